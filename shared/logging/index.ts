/**
 * The Logger port over pino: one JSON line per event on standard output, and the fields that describe an
 * error. Decides nothing about what is logged.
 */
export { errorFields, errorMessage } from './error-fields.ts';
export { createJsonLogger, type JsonLoggerOptions, type LogLevel } from './json-logger.ts';
