import { type DeploymentConfig, parseDeploymentConfig } from '../../shared/deployment/index.ts';

/** Reads and checks the environment of the function, once, at start. @throws as `parseDeploymentConfig` */
export function readFunctionConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): DeploymentConfig {
  return parseDeploymentConfig(env);
}
