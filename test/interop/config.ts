// What the interop run takes from outside: where its files are, and the environment of its child processes.

import { fileURLToPath } from 'node:url';

/** The checkout's root, with a closing slash. */
export const rootFolder = fileURLToPath(new URL('../../', import.meta.url));

/** This folder, with a closing slash. */
export const interopFolder = fileURLToPath(new URL('./', import.meta.url));

/** Where the tools are installed; git ignores it. */
export const toolsFolder = `${rootFolder}.interop/`;

export const region = 'us-east-1';

/** Credentials that local endpoints accept; every child process of the run gets this environment. */
export const childEnvironment: Readonly<Record<string, string | undefined>> = Object.freeze({
  ...process.env,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  // Spark writes this into tables as their owner.
  SPARK_USER: 'interop',
});
