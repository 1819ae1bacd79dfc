import { allTimes } from '../../core/bars/window.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { StoreTables } from '../../ports/store-tables.ts'
import { bucketOf } from './layout/bucket.ts'
import { type MakingDeps, makeTable } from './layout/make-table.ts'
import { retentionOf } from './layout/retention.ts'
import { creating, unfitness } from './layout/table-form.ts'
import type { TableList } from './layout/table-list.ts'
import type { TableRecords } from './layout/table-records.ts'
import { nameOf } from './layout/tables.ts'
import { type RegistryLog, symbolsOf } from './registry.ts'
import type { QuestdbWindows } from './windows.ts'

interface StoreTablesDeps extends MakingDeps {
  readonly records: TableRecords
  readonly tableList: TableList
  readonly windows: QuestdbWindows
  readonly log: RegistryLog
}

/** The decisions of a person about tables that are missing or were replaced. */
export function questdbTables(deps: StoreTablesDeps): StoreTables {
  const { names, records, tableList, windows, log } = deps

  const feedOf = (table: string): FeedKey | undefined => {
    const holds = names.parseBars(table)
    const isOf = (feed: FeedKey): boolean =>
      holds === undefined ? names.windows(feed) === table : names.isOf(holds, feed)
    return log.definitions().find(({ key }) => isOf(key))?.key
  }

  const accept = async (tables: readonly string[]): Promise<void> => {
    await records.accept(tables, deps)
    await tableList.refresh()
  }

  const withdraw = async (table: string): Promise<void> => {
    const [holds, feed] = [names.parseBars(table), feedOf(table)]
    if (holds === undefined || feed === undefined) return
    const concerns = (name: string): boolean => bucketOf(name, holds.buckets) === holds.bucket
    const others = symbolsOf(feed, log).filter((symbol) => !concerns(nameOf(symbol)))
    await windows.withdrawNames({ feed, resolution: holds.resolution, span: allTimes, concerns, others })
  }

  const make = (table: string): Promise<void> => {
    const [holds, feed] = [names.parseBars(table), feedOf(table)]
    const timed = feed && log.timedFeed(feed)
    const ttl = holds && timed && retentionOf(timed, holds.resolution)
    return makeTable(table, creating(table, names, ttl), deps)
  }

  return {
    async list() {
      const states = await records.states()
      return [...states].map(([name, state]) => ({ name, state, canBeRefilled: name !== names.registry }))
    },
    unfitness: (table) => unfitness(table, creating(table, names), deps.admin),
    accept,
    async refill(table) {
      await log.follow()
      // The windows are withdrawn first: a window without its bars would be false coverage.
      await withdraw(table)
      await make(table)
      // A session that added to a window during the first withdrawal may have restored it.
      await withdraw(table)
      await accept([table])
    },
    onRepaired(listen) {
      records.onRepaired.add((tables) => {
        const feeds = new Set(tables.flatMap((table) => feedOf(table) ?? []))
        for (const feed of feeds) listen(feed)
      })
    },
  }
}
