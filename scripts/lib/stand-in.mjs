import { createServer } from 'node:http';

/** Seconds after which senders are asked to come again: a start takes a few. */
const RETRY_AFTER = 5;
/** Of a request, before it is answered: one that is read to its end gets its answer and not a reset. */
const BODY_LIMIT = 5 * 1024 * 1024;
const RECEIVE_MS = 10_000;

/**
 * Answers 503 on Sentry's port while Sentry is away. Both processes hold the same listening socket: Sentry makes it, hands
 * it over, and gets it back when it is started again. So the port is never closed in between, and what had connected
 * when Sentry was killed is answered here. Only one of the two accepts, but for the moment in which they change.
 *
 * A socket is handed on as Node's own handle (as `node:cluster` does it): what is handed on as a `net.Server` accepts at once.
 */
export function createStandIn() {
  /** The socket while somebody else accepts from it; null: there is none yet, or this process does. */
  let kept = null;
  let address = null;
  let server = null;
  let isOver = false;

  function answer() {
    if (server !== null || kept === null || isOver) return;
    server = createServer(
      { headersTimeout: RECEIVE_MS, requestTimeout: RECEIVE_MS, connectionsCheckingInterval: 1_000 },
      tryAgain,
    );
    // What cannot be answered here is not answered at all, as without a stand-in.
    server.on('error', (error) => process.stderr.write(`  The port cannot be answered: ${error.message}\n`));
    server.listen(kept);
    kept = null;
  }

  function stepBack() {
    // Whoever is connected still gets an answer, and no second one: each closes its connection.
    server?.close();
    server = null;
  }

  return {
    /** From now on 503 is answered, if the port is known. */
    answer,
    /** Sentry listens; `isAway`: it has ended since. */
    keep(socket, where, isAway) {
      if (!socket) return;
      if (isOver || (isAway && server !== null)) {
        socket.close();
        return;
      }
      kept?.close();
      kept = socket;
      address = where;
      if (isAway) answer();
      else stepBack();
    },
    /** What the next start is to listen on; undefined: it makes one itself. */
    socket: () => server?._handle ?? kept ?? undefined,
    /** Host and port of it. */
    address: () => address,
    /** Lets the port go. */
    end() {
      isOver = true;
      stepBack();
      kept?.close();
      kept = null;
    },
  };
}

function tryAgain(request, response) {
  let length = 0;
  request.on('data', (chunk) => {
    length += chunk.length;
    if (length > BODY_LIMIT) request.destroy();
  });
  request.on('end', () => {
    response.writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      'retry-after': String(RETRY_AFTER),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    });
    response.end(JSON.stringify({ error: 'Sentry is being started again; send this again' }));
  });
}
