import type { FunctionSettings } from '../../../shared/deployment/index.ts';
import type { ActorKind } from '../script.ts';

/** What a seed decides of the functions and of what rings them. */
export interface EventsScript {
  /** How long anything may go wrong, from the beginning on. */
  readonly faultsMs: number;
  /** Numbers of the tables on the deployment's list, from some time on. */
  readonly allowed: readonly { readonly table: number; readonly afterMs: number }[];
  readonly settings: Pick<FunctionSettings, 'guards' | 'routingIntervalMsFloor'>;
  /** Of the function that rewrites. */
  readonly timeoutMs: number;
  readonly concurrencyMax: number;
  readonly stream: StreamWeather;
  readonly queue: QueueWeather;
  /** Of sweeps, that no schedule brings. */
  readonly lostSweepFraction: number;
  /** People and pipelines that ask for a compaction. */
  readonly requests: readonly { readonly table: number; readonly afterMs: number }[];
  /** Nobody understands them. */
  readonly malformed: readonly {
    readonly what: 'record' | 'message' | 'event' | 'sweep';
    readonly afterMs: number;
  }[];
  /** Writers that begin with a run of Firn, on the same table. */
  readonly intruders: readonly {
    /** The number of the run, from 1. */
    readonly run: number;
    readonly kind: Exclude<ActorKind, 'firn'>;
    readonly delayMs: number;
  }[];
}

/** How often records are lost, doubled or late. */
export interface StreamWeather {
  readonly shardCount: number;
  readonly lossFraction: number;
  readonly duplicateFraction: number;
  readonly delayFraction: number;
  readonly delayMsMax: number;
}

/** How often something happens to a message, or to a request of the queue. */
export interface QueueWeather {
  readonly lossFraction: number;
  readonly duplicateFraction: number;
  readonly delayFraction: number;
  readonly delayMsMax: number;
  /** Turned away, or without an answer. */
  readonly failureFraction: number;
}
