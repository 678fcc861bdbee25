/**
 * What the functions of one deployment share: their environment, read and checked in one place, and what it opens: the
 * warehouse, the queues, loggers. Every function gets the same variables. README.md has their table. Reads no environment
 * by itself: each function's `config.ts` hands it over.
 */
export { type DeploymentConfig, type FunctionSettings, parseDeploymentConfig } from './config.ts';
export { type Deployment, openDeployment } from './deployment.ts';
export { functionLogger } from './function-logger.ts';
export { lookPorts } from './look-ports.ts';
