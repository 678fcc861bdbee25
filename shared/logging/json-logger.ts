import pino from 'pino';
import type { LogFields, Logger } from '../base/index.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface JsonLoggerOptions {
  readonly level: LogLevel;
  /** Put on every line, such as table, operation and request id. */
  readonly fields: LogFields;
  /** Where lines go; standard output if absent. */
  readonly destination?: { write(line: string): void };
}

/** A logger that writes one JSON object a line: level by name, time in ISO form, event, message, fields. */
export function createJsonLogger(options: JsonLoggerOptions): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { ...options.fields },
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'message',
    formatters: { level: (label) => ({ level: label }) },
  };
  const logger = options.destination ? pino(settings, options.destination) : pino(settings);
  return {
    debug: (event, message, fields) => logger.debug({ event, ...fields }, message),
    info: (event, message, fields) => logger.info({ event, ...fields }, message),
    warn: (event, message, fields) => logger.warn({ event, ...fields }, message),
    error: (event, message, fields) => logger.error({ event, ...fields }, message),
  };
}
