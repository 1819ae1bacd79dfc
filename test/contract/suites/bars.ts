import { describe } from 'vitest'
import { describeReading } from './bar-reads.ts'
import { describeRestarts } from './bar-restarts.ts'
import { describeAnswersAboutSeries } from './bar-series.ts'
import { describeWriting } from './bar-writes.ts'
import type { Open } from './opened.ts'

/** Contract of all stores of bars; see services/ports/bars.ts. */
export function describeBarStore(name: string, open: Open<'bars'>): void {
  describe(`bars in ${name}`, () => {
    describeReading(open)
    describeWriting(open)
    describeAnswersAboutSeries(open)
    describeRestarts(open)
  })
}
