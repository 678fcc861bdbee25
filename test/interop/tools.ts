// The tools of a run: Iceberg Java, two Sparks and Python, each one process for the whole run, started when first asked.

import { LineTool } from './child.ts';
import { interopFolder } from './config.ts';
import { javaClassPath, python } from './install.ts';
import type { Endpoints, Servers } from './servers.ts';

/** Where the tables of a run live. */
export type Warehouse = Endpoints &
  Readonly<{ catalogTable: string; namespace: string; warehouse: string }> &
  Pick<Servers, 'onCatalogChange'>;

/** What Spark needs from Java 17, as its own launcher passes it. */
const SPARK_OPENS = [
  'java.lang',
  'java.lang.invoke',
  'java.lang.reflect',
  'java.io',
  'java.net',
  'java.nio',
  'java.util',
  'java.util.concurrent',
  'java.util.concurrent.atomic',
  'jdk.internal.ref',
  'sun.nio.ch',
  'sun.nio.cs',
  'sun.security.action',
  'sun.util.calendar',
].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);

const JVM_OPTIONS = [
  '-Xmx1g',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Duser.timezone=UTC',
];

export type ToolName = 'iceberg' | 'spark4' | 'spark35' | 'python';

async function start(name: ToolName): Promise<LineTool> {
  if (name === 'python') return new LineTool(name, python, [`${interopFolder}python/tool.py`]);
  const classPath = await javaClassPath(name);
  const main = name === 'iceberg' ? 'firn.interop.InteropMain' : 'firn.interop.SparkMain';
  const opens = name === 'iceberg' ? [] : SPARK_OPENS;
  return new LineTool(name, 'java', [...JVM_OPTIONS, ...opens, '-cp', classPath, main]);
}

/** The running tools of one warehouse. */
export class Tools {
  readonly #warehouse: Warehouse;
  readonly #started: LineTool[] = [];
  readonly #running = new Map<ToolName, Promise<LineTool>>();

  constructor(warehouse: Warehouse) {
    this.#warehouse = warehouse;
  }

  /** Sends a command to a tool; the caller names the shape of the answer, which the tool's source defines. */
  async call<Answer>(
    name: ToolName,
    command: string,
    request: Readonly<Record<string, unknown>>,
  ): Promise<Answer> {
    return (await (await this.#tool(name)).call(command, request)) as Answer;
  }

  async #tool(name: ToolName): Promise<LineTool> {
    const running = this.#running.get(name);
    // A tool that crashed failed the cell it crashed in; the next cell gets a new one.
    if (running !== undefined && !(await running).ended) return running;
    const opening = this.#open(name);
    this.#running.set(name, opening);
    return opening;
  }

  async #open(name: ToolName): Promise<LineTool> {
    // Iceberg Java makes the catalog table and the namespace that the others expect.
    if (name !== 'iceberg') await this.#tool('iceberg');
    const tool = await start(name);
    this.#started.push(tool);
    const { namespace, ...endpoints } = this.#warehouse;
    await tool.call('open', { endpoints, namespace });
    return tool;
  }

  /** Ends every tool that was started. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values());
    await Promise.all(this.#started.map((tool) => tool.close()));
  }
}
