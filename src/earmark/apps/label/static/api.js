// Talking to the server. An answer that does not get through is kept and sent again
// with the same key, so that a crash neither loses nor doubles it.

function stored(name, make, storage = sessionStorage) {
  let value = storage.getItem(name);
  if (!value && make) {
    value = make();
    storage.setItem(name, value);
  }
  return value;
}

const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
// "browser-tab": tabs get different documents, and a new tab undoes what an old one did.
const client = `${stored("earmark-browser", newKey, localStorage)}-${stored("earmark-client", newKey)}`;
const who = { person: localStorage.getItem("earmark-person") || "", token: localStorage.getItem("earmark-token") || "" };
export const person = () => who.person;
export function be(name) { who.person = name; localStorage.setItem("earmark-person", name); }
export function useToken(token) { who.token = token; localStorage.setItem("earmark-token", token); }
const credentials = () => (who.token ? { Authorization: `Bearer ${who.token}` } : {});
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class Refused extends Error {}
class Later extends Error {} // busy, or a full disk: the server says which
export class Unknown extends Refused {} // no token, or one that is void

async function send(path, body) {
  const reply = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...credentials() },
    body: JSON.stringify({ client, person: who.person, ...body }),
  });
  const data = await reply.json();
  if (reply.status === 503) throw new Later(data.detail);
  if (reply.status === 401) throw new Unknown("Give the token that you were invited with.");
  if (!reply.ok) throw new Refused(data.detail);
  return data;
}

/** Send until it is through; `onTrouble` is told whether there is trouble. */
async function persist(path, body, onTrouble) {
  for (let tries = 0; ; tries += 1) {
    try {
      const data = await send(path, body);
      if (tries) onTrouble(false);
      return data;
    } catch (error) {
      if (error instanceof Refused) throw error;
      onTrouble(true, error instanceof Later ? error.message : undefined);
      await wait(Math.min(400 * 1.5 ** tries, 3000));
    }
  }
}

export async function answer(document, labels, how, onTrouble) {
  const body = { key: newKey(), document, labels, how };
  sessionStorage.setItem("earmark-pending", JSON.stringify(body));
  const data = await persist("/api/answer", body, onTrouble);
  sessionStorage.removeItem("earmark-pending");
  return data;
}

/** What the last page of this tab could not get through before it was left. */
export async function sendPending(onTrouble) {
  const pending = stored("earmark-pending");
  if (!pending) return;
  try {
    await persist("/api/answer", JSON.parse(pending), onTrouble);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  sessionStorage.removeItem("earmark-pending");
}

/** Send once; who asks can do without an answer. */
export const once = (path, body) => send(`/api/${path}`, body);
export const post = (path, body, onTrouble) => persist(`/api/${path}`, body, onTrouble);
/** The tab is closing: what it shows goes back to the others. */
export function release() {
  fetch("/api/release", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json", ...credentials() },
    body: JSON.stringify({ client }) }).catch(() => {});
}

export const accept = (onTrouble) => persist("/api/accept", { key: newKey() }, onTrouble);
export const many = (body, onTrouble) => persist("/api/many", { key: newKey(), ...body }, onTrouble);
/** A file of the server, with the token if there is one. */
export const file = (path) => fetch(path, { headers: credentials() });
export async function get(path) {
  const reply = await file(`/api/${path}`);
  if (reply.status === 401) throw new Unknown("Give the token that you were invited with.");
  if (!reply.ok) throw new Error("no answer");
  return reply.json();
}
