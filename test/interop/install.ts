// Installs the pinned tools of the interop run into .interop; a second run installs nothing.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { runSuccessfully } from './child.ts';
import { interopFolder, toolsFolder } from './config.ts';

/** The Python interpreter of the run's own environment. */
export const python = `${toolsFolder}python/bin/python`;

/** A hash over the names and contents of every file under some paths of this folder. */
async function fingerprint(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    const names = path.endsWith('/')
      ? (await readdir(interopFolder + path, { recursive: true, withFileTypes: true }))
          .filter((entry) => entry.isFile())
          .map((entry) => `${entry.parentPath}/${entry.name}`)
          .sort()
      : [interopFolder + path];
    for (const name of names) {
      hash.update(name.slice(interopFolder.length));
      hash.update(await readFile(name));
    }
  }
  return hash.digest('hex');
}

/** Runs an installation unless it ended well before with the same inputs. */
async function once(
  name: string,
  inputs: readonly string[],
  install: () => Promise<void>,
): Promise<void> {
  const stamp = `${toolsFolder}${name}.installed`;
  const wanted = await fingerprint(inputs);
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return;
  process.stdout.write(`interop: installing ${name}\n`);
  await install();
  await writeFile(stamp, wanted);
}

async function installPython(): Promise<void> {
  await runSuccessfully('python3', ['-m', 'venv', `${toolsFolder}python`]);
  const requirements = `${interopFolder}python/requirements.txt`;
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  await runSuccessfully(python, ['-m', 'pip', 'install', ...options, '-r', requirements]);
}

async function installJava(): Promise<void> {
  await runSuccessfully('mvn', [
    '-q',
    '-B',
    '-T2',
    '-f',
    `${interopFolder}java/pom.xml`,
    'package',
  ]);
}

/** Makes every tool ready; Python and Java install side by side. */
export async function installTools(): Promise<void> {
  await mkdir(toolsFolder, { recursive: true });
  await Promise.all([
    once('python', ['python/requirements.txt'], installPython),
    once('java', ['java/'], installJava),
  ]);
}

/** The class path of one Java module: what Maven resolved, and the module itself. */
export async function javaClassPath(module: 'iceberg' | 'spark4' | 'spark35'): Promise<string> {
  const resolved = await readFile(`${toolsFolder}java/${module}.classpath`, 'utf8');
  return `${toolsFolder}java/${module}/${module}-1.jar:${resolved.trim()}`;
}
