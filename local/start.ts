import { demonstrate } from './demo/demonstrate.ts';

await demonstrate((line) => void process.stdout.write(`${line}\n`));
