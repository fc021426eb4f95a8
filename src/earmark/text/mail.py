"""stub"""


def split_mail(text):
    head, _, body = text.partition("\n\n")
    return {"subject": head, "body": body}
