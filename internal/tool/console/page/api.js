// Requests to this server, and to no other.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Refused(0, "The command that serves this page has ended, or does not answer.");
  }
  if (response.status === 204) return null;
  let body;
  try {
    body = await response.json();
  } catch {
    throw new Refused(response.status, "The answer was cut off.");
  }
  if (!response.ok) throw new Refused(response.status, body.error || "The request was refused.");
  return body;
}

export const get = (name) => request("/api/" + name);

export const post = (name, body) => request("/api/" + name,
  { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body || {}) });
