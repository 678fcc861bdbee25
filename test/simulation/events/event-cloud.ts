import { setImmediate as macrotask } from 'node:timers/promises';
import type { SQSEvent } from 'aws-lambda';
import {
  MAINTENANCE_OPERATIONS,
  type MaintenanceOperation,
  parseMaintenanceRequest,
  type SweepRequest,
} from '../../../events/index.ts';
import { createHandler as createRewriteDataFiles } from '../../../functions/rewrite-data-files/handler.ts';
import { createHandler as createRewriteDeletes } from '../../../functions/rewrite-deletes/handler.ts';
import { createHandler as createRouteEvents } from '../../../functions/route-events/handler.ts';
import { createHandler as createSweepTables } from '../../../functions/sweep-tables/handler.ts';
import {
  type EventSource,
  type HostedFunction,
  type LambdaContext,
  LambdaHost,
  QueueSource,
  Schedule,
  StreamSource,
} from '../../../local/lambda-host/index.ts';
import { ItemStream } from '../../../local/stream/index.ts';
import { isIcebergError } from '../../../shared/base/index.ts';
import { formatTableIdentifier } from '../../../shared/catalog/index.ts';
import type { Deployment, FunctionSettings } from '../../../shared/deployment/index.ts';
import type { Handler } from '../../../shared/operation-function/index.ts';
import { MemoryQueue } from '../../../shared/queue/index.ts';
import { actorContext } from '../actors/actor-context.ts';
import { runWriter } from '../actors/writers.ts';
import { type Chance, chanceOf, randomOf } from '../chance.ts';
import { actorPorts } from '../ports.ts';
import type { Stage } from '../scenario.ts';
import type { Actor } from '../scheduler.ts';
import { tablesOf } from '../script.ts';
import { identifierOf, type World } from '../world.ts';
import type { EventsScript } from './events-script.ts';
import { FunctionLog } from './function-log.ts';
import { queueFaults } from './queue-faults.ts';
import { SimulatedQueue } from './simulated-queue.ts';

const MINUTE_MS = 60_000;

/** As they are deployed. */
const SWEEP_EVERY_MS = { due: 5 * MINUTE_MS, catalog: 60 * MINUTE_MS } as const;

/** When nothing happens, for days: the same, less often. */
const QUIET_SWEEP_EVERY_MS = { due: 30 * MINUTE_MS, catalog: 120 * MINUTE_MS } as const;

const ROUTER_TIMEOUT_MS = MINUTE_MS;
const ROUTER_CONCURRENCY_MAX = 4;
const STREAM_BATCH_SIZE_MAX = 10;
const STREAM_RETRY_COUNT_MAX = 3;
const MESSAGE_VISIBILITY_MS = 180_000;
const RECEIVE_COUNT_MAX = 5;
const CATALOG_TABLE = 'iceberg';

/** How often it is looked whether a function has capacity again. */
const POLL_MS = 10_000;

/** An event that a function does not take comes again twice, as those of a bus do. */
const EVENT_ATTEMPTS_MAX = 3;

const SKEWS_MS = [0, 0, 0, -20_000, 20_000];

type Sweep = SweepRequest['sweep'];

/** What of an outcome can be held against what the catalog saw. */
interface SomeOutcome {
  readonly outcome: string;
  readonly commits?: readonly { readonly snapshotId: bigint }[];
}

type SomePorts = Deployment & {
  readonly onOutcome: (table: string, outcome: SomeOutcome) => void;
};

const OPERATION_FUNCTIONS: Readonly<Record<MaintenanceOperation, (ports: SomePorts) => Handler>> = {
  'rewrite-data-files': createRewriteDataFiles,
  'rewrite-deletes': createRewriteDeletes,
};

type Call = (
  deployment: Deployment,
  event: never,
  context: LambdaContext,
  actor: Actor,
) => Promise<unknown>;

/**
 * The deployed functions of Firn in the simulation, rung by the stream of the catalog, queues and schedules of the local
 * cloud. Each invocation is an actor of its own, on the ports that all actors have: `firn-route-1`, `firn-due-1`,
 * `firn-catalog-1`, `firn-rewrite-data-files-1` and so on.
 */
export class EventCloud {
  readonly queues: Readonly<Record<MaintenanceOperation, MemoryQueue>>;
  /** Where events went that nobody understands. */
  readonly eventLetters: MemoryQueue;
  readonly #stage: Stage;
  readonly #script: EventsScript;
  readonly #host: LambdaHost;
  readonly #stream: ItemStream;
  readonly #log: FunctionLog;
  readonly #chance: Chance;
  readonly #startMs: number;
  readonly #streamFaults: { -readonly [key in keyof EventsScript['stream']]: number };
  readonly #schedules = new Map<Sweep, Schedule>();
  readonly #invocationCounts = new Map<string, number>();
  readonly #routeEvents: HostedFunction;
  readonly #sweepTables: HostedFunction;
  readonly #failures: unknown[] = [];
  #untilMs = 0;
  #wakeAtMs: number | undefined;

  constructor(stage: Stage, script: EventsScript) {
    const { world } = stage;
    const { clock } = world;
    const { seed } = world.script;
    this.#stage = stage;
    this.#script = script;
    this.#log = new FunctionLog(world);
    this.#chance = chanceOf(seed, 'cloud');
    this.#startMs = clock.nowMs();
    this.#streamFaults = { ...script.stream };
    this.#stream = new ItemStream({
      tableName: CATALOG_TABLE,
      region: 'us-east-1',
      viewType: 'KEYS_ONLY',
      shardCount: script.stream.shardCount,
      clock,
      random: randomOf(seed, 'stream'),
      faults: this.#streamFaults,
    });
    this.queues = {
      'rewrite-data-files': newQueue('rewrite-data-files', world, script),
      'rewrite-deletes': newQueue('rewrite-deletes', world, script),
    };
    this.eventLetters = newQueue('event-letters', world);
    this.#host = new LambdaHost({ clock, random: randomOf(seed, 'host') });
    this.#routeEvents = this.#addFunction('route', ROUTER_CONCURRENCY_MAX, (deployment, ...rest) =>
      createRouteEvents(deployment)(rest[0], rest[1]),
    );
    this.#sweepTables = this.#addFunction('sweep', 1, (deployment, ...rest) =>
      createSweepTables(deployment)(rest[0], rest[1]),
    );
    this.#addSources();
    this.#watchTables();
    world.onTurn = () => this.#afterTurn();
  }

  /** As the deployment's environment says it now. */
  get settings(): FunctionSettings {
    const sinceMs = this.#stage.world.clock.nowMs() - this.#startMs;
    return {
      ...this.#script.settings,
      enabledTables: this.#script.allowed
        .filter(({ afterMs }) => afterMs <= sinceMs)
        .map(({ table }) => formatTableIdentifier(identifierOf(table))),
      isObserving: false,
      logLevel: 'debug',
      messageVisibilityMs: MESSAGE_VISIBILITY_MS,
    };
  }

  /** Whether no record and no message is on its way, and no function at work. */
  get isStill(): boolean {
    const hasMessages = Object.values(this.queues).some((queue) => queue.nextVisibleAtMs());
    const hasRecords = this.#stream.shards.some((shard) => shard.nextAtMs() !== undefined);
    return !hasMessages && !hasRecords && this.#host.underWayCount() === 0;
  }

  /** Lets time pass, and whoever is at work come to an end. @throws Violation */
  async runForMs(durationMs: number): Promise<void> {
    const { world } = this.#stage;
    this.#untilMs = world.clock.nowMs() + durationMs;
    world.scheduler.later('time is over', durationMs, () => {});
    await world.scheduler.run();
  }

  /** From now on nothing goes wrong. */
  calmDown(): void {
    this.#stage.world.calmDown();
    const faults = this.#streamFaults;
    faults.lossFraction = 0;
    faults.duplicateFraction = 0;
    faults.delayFraction = 0;
  }

  /** Sweeps come less often, since there is nothing to find for them. */
  sweepSeldom(): void {
    for (const sweep of ['due', 'catalog'] as const) {
      this.#setSchedule(sweep, QUIET_SWEEP_EVERY_MS[sweep]);
    }
  }

  /** What comes from outside: events of the bus, and what nobody understands. */
  ringFromOutside(): void {
    const { scheduler } = this.#stage.world;
    for (const { table, afterMs } of this.#script.requests) {
      const event = compactRequest(formatTableIdentifier(identifierOf(table)));
      scheduler.later('somebody asks', afterMs, () => this.#putEvent(event, 1));
    }
    for (const { what, afterMs } of this.#script.malformed) {
      scheduler.later(`malformed ${what}`, afterMs, () => this.#sendMalformed(what));
    }
  }

  #addSources(): void {
    const { clock } = this.#stage.world;
    const { timeoutMs, concurrencyMax } = this.#script;
    const host = this.#host;
    host.addSource(
      new StreamSource({
        stream: this.#stream,
        target: this.#routeEvents,
        batchSizeMax: STREAM_BATCH_SIZE_MAX,
        retryCountMax: STREAM_RETRY_COUNT_MAX,
        deadLetters: { sendToDeadLetters: async () => this.#stage.world.count('records given up') },
        clock,
      }),
    );
    for (const operation of MAINTENANCE_OPERATIONS) {
      const call: Call = (...args) => this.#operate(OPERATION_FUNCTIONS[operation], args);
      const target = this.#addFunction(operation, concurrencyMax, call, { timeoutMs });
      const queue = this.queues[operation];
      host.addSource(new QueueSource({ queue, target, batchSizeMax: 1, concurrencyMax, clock }));
    }
    for (const sweep of ['due', 'catalog'] as const) {
      this.#setSchedule(sweep, SWEEP_EVERY_MS[sweep]);
      const current = (): EventSource => this.#schedules.get(sweep)!;
      host.addSource({
        dispatch: () => current().dispatch(),
        nextDueAtMs: () => current().nextDueAtMs(),
      });
    }
  }

  #setSchedule(sweep: Sweep, everyMs: number): void {
    const event: SweepRequest = { version: 1, sweep };
    const { clock } = this.#stage.world;
    this.#schedules.set(sweep, new Schedule({ target: this.#sweepTables, event, everyMs, clock }));
  }

  /** Whatever the pointer is moved by, the stream has a record of it. */
  #watchTables(): void {
    const { world } = this.#stage;
    for (const table of tablesOf(world.script).keys()) {
      const identifier = identifierOf(table);
      const keys = {
        identifier: { S: formatTableIdentifier(identifier) },
        namespace: { S: identifier.namespace.join('.') },
      };
      world.pointerOf(identifier).onMove = ({ metadataLocation, metadataLocationBefore }) =>
        this.#stream.append({
          tableName: CATALOG_TABLE,
          keys,
          ...(metadataLocationBefore === undefined ? {} : { oldImage: keys }),
          ...(metadataLocation === undefined ? {} : { newImage: keys }),
        });
    }
  }

  #addFunction(
    name: 'route' | 'sweep' | MaintenanceOperation,
    concurrencyMax: number,
    call: Call,
    { timeoutMs = ROUTER_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
  ): HostedFunction {
    return this.#host.addFunction({
      name,
      timeoutMs,
      concurrencyMax,
      handler: (event, context) => this.#invoke(kindOf(name, event), call, [event, context]),
    });
  }

  /** One invocation; when its actor crashes, nobody ever hears of it again. */
  #invoke(kind: string, call: Call, [event, context]: [never, LambdaContext]): Promise<unknown> {
    const { world } = this.#stage;
    const isSweep = kind === 'due' || kind === 'catalog';
    if (isSweep && !world.isCalm && this.#chance.is(this.#script.lostSweepFraction)) {
      world.count('fault sweep lost');
      return Promise.resolve();
    }
    const count = (this.#invocationCounts.get(kind) ?? 0) + 1;
    this.#invocationCounts.set(kind, count);
    return new Promise((resolve, reject) => {
      world.scheduler.spawn(`firn-${kind}-${count}`, async (actor) => {
        try {
          resolve(await call(this.#deployment(actor, kind), event, context, actor));
        } catch (error) {
          // Anything else is a mistake, and ends the simulation.
          if (!isIcebergError(error)) throw error;
          world.count(`${kind} threw ${error.kind}`);
          reject(error);
        }
      });
    });
  }

  #deployment(actor: Actor, kind: string): Deployment {
    const { world } = this.#stage;
    const skewMs = chanceOf(world.script.seed, `${actor.name} skew`).pick(SKEWS_MS);
    const { catalog, store, ledger, clock, random } = actorPorts(actor, world, skewMs);
    const simulated = (queue: MemoryQueue) => new SimulatedQueue(actor, world, queue);
    return {
      settings: this.settings,
      warehouse: { catalogUrl: 'simulation', catalog, store, openLedger: () => ledger },
      queues: {
        'rewrite-data-files': simulated(this.queues['rewrite-data-files']),
        'rewrite-deletes': simulated(this.queues['rewrite-deletes']),
      },
      eventDeadLetters: simulated(this.eventLetters),
      clock,
      random,
      logDestination: this.#log.of(actor.name, kind),
    };
  }

  #operate(
    create: (ports: SomePorts) => Handler,
    [deployment, event, context, actor]: Parameters<Call>,
  ): Promise<unknown> {
    const { world, checkers } = this.#stage;
    const { Records } = event as SQSEvent;
    for (const { body, attributes } of Records) {
      if (Number(attributes.ApproximateReceiveCount) > 1) world.count('messages delivered again');
      const parsed = parseMaintenanceRequest(body);
      if (parsed.isValid) this.#letIntrude(actor, this.#tableOf(parsed.value.table));
    }
    const handler = create({
      ...deployment,
      onOutcome: (table, { outcome, commits = [] }) => {
        const snapshotIds = commits.map(({ snapshotId }) => snapshotId);
        checkers[this.#tableOf(table)]!.heard(actor.name, {
          ended: 'well',
          outcome,
          snapshotIds,
        }).catch((error: unknown) => this.#failures.push(error));
      },
    });
    return handler(event, context);
  }

  #tableOf(name: string): number {
    const tables = [...tablesOf(this.#stage.world.script).keys()];
    return tables.findIndex((table) => formatTableIdentifier(identifierOf(table)) === name);
  }

  /** Somebody writes to the table while this run is at it. */
  #letIntrude({ name }: Actor, table: number): void {
    const { world } = this.#stage;
    if (world.isCalm) return;
    for (const [index, { run, kind, delayMs }] of this.#script.intruders.entries()) {
      if (name !== `firn-rewrite-data-files-${run}`) continue;
      const script = { name: `${kind}-i${index}`, kind, taskCount: 1, delayMs, skewMs: 0, table };
      world.scheduler.spawn(script.name, (actor) =>
        runWriter(kind, actorContext(script, actor, world)),
      );
    }
  }

  #putEvent(event: unknown, attempt: number): void {
    const { scheduler } = this.#stage.world;
    void this.#routeEvents.invoke(event).then(({ ended }) => {
      if (ended === 'returned' || attempt === EVENT_ATTEMPTS_MAX) return;
      scheduler.later('the event again', MINUTE_MS, () => this.#putEvent(event, attempt + 1));
    });
  }

  #sendMalformed(what: EventsScript['malformed'][number]['what']): void {
    const text = { hello: 'world' };
    switch (what) {
      case 'record':
        this.#stream.append({ tableName: CATALOG_TABLE, keys: { id: { S: 'world' } } });
        return;
      case 'message':
        this.queues['rewrite-data-files']
          .send({ body: JSON.stringify(text), groupId: 'world' })
          .catch(() => this.#stage.world.count('malformed message turned away'));
        return;
      case 'event':
        this.#putEvent(text, 1);
        return;
      case 'sweep':
        void this.#sweepTables.invoke(text);
        return;
    }
  }

  /** Everybody waits: begins what is due, and sees to it that time goes on to what is due next. */
  async #afterTurn(): Promise<void> {
    this.#log.check();
    if (this.#failures.length > 0) throw this.#failures[0];
    const { clock, scheduler } = this.#stage.world;
    const nowMs = clock.nowMs();
    if (nowMs > this.#untilMs) return;
    // Those who begin come as far as their first call.
    while (this.#host.dispatch() > 0) await macrotask();
    const dueAtMs = this.#host.nextDueAtMs() ?? Number.POSITIVE_INFINITY;
    const wakeAtMs = dueAtMs > nowMs ? dueAtMs : nowMs + POLL_MS;
    if (wakeAtMs > this.#untilMs || wakeAtMs >= (this.#wakeAtMs ?? Number.POSITIVE_INFINITY)) {
      return;
    }
    this.#wakeAtMs = wakeAtMs;
    scheduler.later('something is due', wakeAtMs - nowMs, () => {
      if (this.#wakeAtMs === wakeAtMs) this.#wakeAtMs = undefined;
    });
  }
}

function newQueue(name: string, world: World, script?: EventsScript): MemoryQueue {
  return new MemoryQueue({
    name,
    visibilityTimeoutMs: MESSAGE_VISIBILITY_MS,
    receiveCountMax: RECEIVE_COUNT_MAX,
    clock: world.clock,
    random: randomOf(world.script.seed, name),
    ...(script === undefined ? {} : { faults: queueFaults(world, script.queue) }),
  });
}

/** A sweep goes by what it sweeps. */
function kindOf(name: string, event: { readonly sweep?: unknown }): string {
  return name === 'sweep' ? String(event.sweep ?? name) : name;
}

function compactRequest(table: string): unknown {
  return {
    'detail-type': 'firn.request',
    id: `request-for-${table}`,
    source: 'simulation',
    detail: { version: 1, operation: 'compact', table, reason: 'somebody asks' },
  };
}
