# A model behind a URL:
#   docker build -t earmark .
#   docker run -p 8000:8000 -v "$PWD":/models:ro -e EARMARK_TOKEN=... earmark /models/model.earmark
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY cpp cpp
COPY src src
RUN python -m venv /opt/earmark && /opt/earmark/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 earmark
COPY --from=build /opt/earmark /opt/earmark
USER earmark
WORKDIR /home/earmark
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["/opt/earmark/bin/python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# Anybody who reaches the port can ask, unless EARMARK_TOKEN is set.
ENTRYPOINT ["/opt/earmark/bin/earmark", "serve", "--host", "0.0.0.0"]
