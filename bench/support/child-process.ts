import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * What a child process offers by name. Arguments and results are cloned, so they are plain values; a call without
 * an argument is given `undefined`.
 */
export type Service = Readonly<Record<string, (argument: never) => Promise<unknown>>>;

export interface Child<S extends Service> {
  /** One call at a time. Rejects with the child's error. */
  call<Name extends keyof S & string>(
    name: Name,
    argument: Parameters<S[Name]>[0],
  ): Promise<Awaited<ReturnType<S[Name]>>>;
  stop(): Promise<void>;
}

type Answer = { readonly result: unknown } | { readonly problem: string };

/**
 * Starts `bench/FILE`, which must call `serve`. Benches keep everything in children, since the peak memory that
 * Linux reports of a process is at least that of the one which started it: the first process must stay small.
 */
export function startChild<S extends Service>(
  file: string,
  { execArgv = [] }: { readonly execArgv?: readonly string[] } = {},
): Child<S> {
  const child = fork(join(import.meta.dirname, '..', file), {
    serialization: 'advanced',
    execArgv: [...process.execArgv, ...execArgv],
  });
  const ended = once(child, 'exit').then(([code]): Answer => {
    return { problem: `${file}: ended with code ${String(code)}` };
  });
  return {
    async call(name, argument) {
      const answered = once(child, 'message').then(([message]) => message as Answer);
      child.send({ name, argument });
      const answer = await Promise.race([answered, ended]);
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.result as never;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** Answers the calls of the process that started this one, until it goes away. */
export function serve(service: Service): void {
  process.on('message', ({ name, argument }: { name: string; argument: never }) => {
    void answer(service, name, argument).then((message) => process.send?.(message));
  });
  process.on('disconnect', () => process.exit(0));
  // That may have happened while this process was starting.
  if (!process.connected) process.exit(0);
}

async function answer(service: Service, name: string, argument: never): Promise<Answer> {
  try {
    return { result: await service[name]!(argument) };
  } catch (error) {
    return { problem: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
