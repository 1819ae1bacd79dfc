import { expect, test } from 'vitest'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import { TableNames } from './tables.ts'

const feed = feedKey('BROKERA', 'ZERO')

const allOf = (names: TableNames): readonly string[] => [
  names.registry,
  names.schema,
  names.parked,
  names.tables,
  names.usageDays,
  names.windows(feed),
  names.bars(feed, '1', 3, 4),
  names.bars(feed, '60', 0, 1),
  names.bars(feed, '1M', 0, 1),
]

test.each(['fxd_eu_', 'fxd_bars_'])(
  'the names of tables with the prefix %s are not taken for those of this fxd',
  (other) => {
    const [mine, theirs] = [new TableNames('fxd_'), new TableNames(other)]
    for (const table of allOf(mine))
      expect([table, mine.isOurs(table), theirs.isOurs(table)]).toEqual([table, true, false])
    for (const table of allOf(theirs))
      expect([table, mine.isOurs(table), theirs.isOurs(table)]).toEqual([table, false, true])
  },
)
