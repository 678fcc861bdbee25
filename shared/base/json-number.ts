import { assert } from './assert.ts';

export const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A number kept by its source text, since no double prints the same. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    assert(NUMBER_TEXT.test(text), `json number: ${JSON.stringify(text)} is not a number`);
    this.text = text;
  }
}
