/** Values a log line may carry. Ids are given as decimal strings. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * Where events are written, one line each. `event` is a stable `noun.verb-ed` name; `message` is for people.
 * Row values, column bounds, object contents and credentials never go in.
 */
export interface Logger {
  debug(event: string, message: string, fields?: LogFields): void;
  info(event: string, message: string, fields?: LogFields): void;
  warn(event: string, message: string, fields?: LogFields): void;
  error(event: string, message: string, fields?: LogFields): void;
}

/** Discards every event. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
