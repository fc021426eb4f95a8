// Shows the service's OpenAPI description, without any network.
import { make } from "./base.js";

const $ = (id) => document.getElementById(id);
const nameOf = (reference) => reference.split("/").pop();

function typeOf(schema) {
  if (schema.$ref) return make("a", { href: `#${nameOf(schema.$ref)}`, textContent: nameOf(schema.$ref) });
  if (schema.anyOf) return make("span", {}, ...schema.anyOf.flatMap((each, at) => (at ? [" or ", typeOf(each)] : [typeOf(each)])));
  if (schema.type === "array") return make("span", {}, "list of ", typeOf(schema.items));
  if (schema.type === "object" && schema.additionalProperties) return make("span", {}, "names to ", typeOf(schema.additionalProperties));
  return make("span", { textContent: schema.type || "any" });
}

function limitsOf(schema) {
  const words = {
    minLength: "at least N characters", maxLength: "at most N characters", minItems: "at least N", maxItems: "at most N",
    minimum: "from N", maximum: "to N", exclusiveMinimum: "above N", exclusiveMaximum: "below N", default: "default N",
  };
  const all = { ...(schema.items || {}), ...schema };
  return Object.entries(words).filter(([key]) => key in all).map(([key, text]) => text.replace("N", String(all[key]))).join(", ");
}

function table(caption, heads, rows) {
  return make("table", { className: "docs-table" },
    make("caption", { className: "visually-hidden", textContent: caption }),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col", textContent: head })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, at) =>
      make(at ? "td" : "th", at ? {} : { scope: "row" }, cell))))));
}

function schemaPart(name, schema) {
  const rows = Object.entries(schema.properties || {}).map(([field, each]) => [
    make("code", { textContent: field }), typeOf(each),
    [each.description, limitsOf(each), (schema.required || []).includes(field) ? "always there" : ""].filter(Boolean).join("; ")]);
  return make("section", { className: "sheet docs-part", id: name },
    make("h3", { textContent: name }), make("p", { className: "soft", textContent: schema.description || "" }),
    ...(rows.length ? [table(`Fields of ${name}`, ["field", "type", "meaning"], rows)] : []));
}

function contentOf(content) {
  const [kind, { schema }] = Object.entries(content)[0];
  return make("span", {}, typeOf(schema), ` (${kind})`);
}

function snippet(path, operation) {
  const more = path === "/classify" ? `"explain": true` : `"labels": ["right label"]`;
  const token = operation.security ? ` \\\n  -H 'Authorization: Bearer TOKEN'` : "";
  return `curl -s ${location.origin}${path}${token} \\\n  -H 'Content-Type: application/json' \\\n  -d '{"texts": ["some text"], ${more}}'`;
}

function pathPart(path, method, operation) {
  const rows = Object.entries(operation.responses).map(([status, reply]) => [status, reply.description, contentOf(reply.content)]);
  const body = operation.requestBody ? [make("p", {}, "Body: ", contentOf(operation.requestBody.content)),
    make("pre", { tabIndex: 0 }, make("code", { textContent: snippet(path, operation) }))] : [];
  return make("section", { className: "sheet docs-part" },
    make("h2", {}, make("code", { textContent: `${method.toUpperCase()} ${path}` })),
    make("p", { textContent: operation.summary }), ...body,
    table(`Answers of ${path}`, ["status", "meaning", "answer"], rows));
}

async function load() {
  const token = $("token").value;
  const reply = await fetch("/openapi.json", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  const described = await reply.json();
  if (reply.status === 401) $("token-option").hidden = false;
  $("notice").hidden = reply.ok;
  if (!reply.ok) { $("notice").textContent = described.detail; return; }
  $("paths").replaceChildren(...Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => pathPart(path, method, operation))));
  $("schemas").replaceChildren(...Object.entries(described.components.schemas).map((each) => schemaPart(...each)));
}

$("token").addEventListener("change", load);
load();
