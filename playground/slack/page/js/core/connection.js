/**
 * The line to the local workspace: one WebSocket that only listens, and POSTs for everything a person does.
 */

/** @typedef {import('./types.js').PageFrame} PageFrame @typedef {import('./types.js').PageActions} PageActions @typedef {import('./types.js').PageAnswer} PageAnswer */

/** Milliseconds before each try; the last one repeats. Short, because the server is on this machine. */
const RETRY_MS = [300, 700, 1500, 3000, 5000];

/**
 * Connects and keeps connected. After every reconnect the server sends a whole snapshot, so nothing is queued.
 * @param {{ onFrame: (frame: PageFrame) => void, onState: (state: 'open' | 'lost', retryInMs: number) => void }} handlers
 * @returns {{ retryNow: () => void }}
 */
export function connect({ onFrame, onState }) {
  let tries = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const open = () => {
    clearTimeout(timer);
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(`${scheme}//${location.host}/page/ws`);
    socket.addEventListener('message', (event) => {
      const frame = JSON.parse(String(event.data));
      if (frame.type === 'snapshot') {
        tries = 0;
        onState('open', 0);
      }
      onFrame(frame);
    });
    socket.addEventListener('close', () => {
      const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 5000;
      tries += 1;
      onState('lost', wait);
      timer = setTimeout(open, wait);
    });
  };
  open();
  return {
    retryNow() {
      tries = 0;
      open();
    },
  };
}

/**
 * One action of a person. Never rejects: a lost connection is an answer too.
 * @template {keyof PageActions} Name
 * @param {Name} name
 * @param {PageActions[Name]} body
 * @returns {Promise<PageAnswer>}
 */
export async function act(name, body) {
  try {
    const response = await fetch(`/page/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (typeof answer?.ok === 'boolean') return answer;
    return { ok: false, error: `http_${response.status}`, reason: `The local workspace answered ${response.status}.` };
  } catch {
    return { ok: false, error: 'offline', reason: 'The local workspace cannot be reached. Is it still running?' };
  }
}
