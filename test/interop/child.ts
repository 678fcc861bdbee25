// Child processes: run one to its end, or talk to one in lines of JSON.

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { childEnvironment } from './config.ts';

/** How many characters of a child's stderr are kept for error messages. */
const STDERR_TAIL_LENGTH = 4_000;

/** How many characters of a tool's error, from its start, are shown. */
const ERROR_LENGTH_MAX = 2_500;

/** Keeps the last characters that a stream carried. */
function keepTail(child: ChildProcessWithoutNullStreams): () => string {
  let tail = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL_LENGTH);
  });
  return () => tail;
}

/** What a finished child process left: its stdout, the end of its stderr, its exit code (null: killed). */
export type Finished = Readonly<{ code: number | null; stdout: string; stderr: string }>;

/** Runs a program to its end, whatever its exit code. */
export async function runChild(
  program: string,
  args: readonly string[],
  options: Readonly<{ cwd?: string; env?: Readonly<Record<string, string>> }> = {},
): Promise<Finished> {
  const env = { ...childEnvironment, ...options.env };
  const child = spawn(program, args, { ...(options.cwd && { cwd: options.cwd }), env });
  child.stdin.end();
  const stderr = keepTail(child);
  let stdout = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    stdout += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, stdout, stderr: stderr() };
}

/** Runs a program and fails unless it exits with 0; returns its stdout. */
export async function runSuccessfully(
  program: string,
  args: readonly string[],
  options: Readonly<{ cwd?: string }> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runChild(program, args, options);
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${stdout.slice(-2000)}\n${stderr}`);
  return stdout;
}

type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** A long-lived child that answers one line of JSON for each line of JSON, in order. */
export class LineTool {
  readonly #name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #endedBecause: string | undefined;

  constructor(name: string, program: string, args: readonly string[]) {
    this.#name = name;
    this.#child = spawn(program, args, { env: childEnvironment });
    process.once('exit', () => this.#child.kill());
    const stderr = keepTail(this.#child);
    createInterface(this.#child.stdout).on('line', (line) => this.#answer(line));
    this.#child.on('error', (error) => this.#fail(error.message));
    this.#child.on('close', (code) => this.#fail(`ended with ${code}\n${stderr()}`));
  }

  /** Whether the process has ended, by itself or by `close`. */
  get ended(): boolean {
    return this.#endedBecause !== undefined;
  }

  /** Sends one command and waits for its result, which the tool's protocol types. */
  call(command: string, request: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.ended) return Promise.reject(this.#error(this.#endedBecause ?? ''));
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ ...request, id, command })}\n`);
    });
  }

  /** Closes the tool's stdin, which ends it, and waits for that. */
  async close(): Promise<void> {
    if (this.ended) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await closed;
  }

  #answer(line: string): void {
    const { id, result, error } = JSON.parse(line) as {
      id: number;
      result?: unknown;
      error?: string;
    };
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(this.#error(error));
  }

  #error(message: string): Error {
    const shown = message.slice(0, ERROR_LENGTH_MAX);
    return new assert.AssertionError({ message: `${this.#name}: ${shown}` });
  }

  #fail(reason: string): void {
    this.#endedBecause ??= reason;
    for (const { reject } of this.#waiting.values()) {
      reject(this.#error(reason));
    }
    this.#waiting.clear();
  }
}
