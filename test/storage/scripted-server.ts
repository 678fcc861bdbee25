import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Breaks the connection after the body, which may be shorter than announced. */
  readonly breaks?: boolean;
}

/** A server that gives these answers in turn, then the last one for ever, whatever it is asked. */
export async function startScriptedServer(answers: readonly ScriptedAnswer[]) {
  let requestCount = 0;
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requestCount++, answers.length - 1)];
    const chunks: Uint8Array[] = [];
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(answer?.status ?? 500, answer?.headers ?? {});
      if (answer?.breaks !== true) response.end(answer?.body);
      else response.write(answer.body ?? '', () => request.socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestCount: () => requestCount,
    /** Bodies of the requests so far. */
    bodies,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
