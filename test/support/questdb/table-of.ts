import type { Series } from '../../../services/core/bars/series.ts'
import { bucketOf } from '../../../services/stores/questdb/layout/bucket.ts'
import { nameOf, TableNames } from '../../../services/stores/questdb/layout/tables.ts'

/** The table with the bars of a series, whose feed is split into this number of buckets. */
export const tableOf = (prefix: string, series: Series, buckets: number): string =>
  new TableNames(prefix).bars(series.feed, series.resolution, bucketOf(nameOf(series), buckets), buckets)
