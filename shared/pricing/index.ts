/**
 * What maintenance costs at list prices: a dated price table and arithmetic over counted requests and compute.
 * Estimates only; storage saved and data transfer are left out on purpose.
 */
export {
  estimatePrice,
  formatDollars,
  type PriceEstimate,
  type PriceLine,
  type Usage,
} from './estimate.ts';
export { PRICE_TABLE, type PriceTable } from './price-table.ts';
