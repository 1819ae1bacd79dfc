import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { ms, quantile } from '../support/figures.ts'
import { openOver } from '../support/questdb-layouts.ts'
import { barsOfMinute } from '../support/whole-minute.ts'
import { market } from './market.ts'

const warmUps = 5
const measured = 100
/** Minutes that `commitsAlone` writes. */
export const minutesAlone = warmUps + measured
const pauseMs = 200
const syncs = 100
const prefixOfService = 'fxd_'

/** Commits of whole minutes by this process alone, beside the disk. Milliseconds. */
export interface Alone {
  readonly p50: number
  readonly p99: number
  /** Write and fsync of 4 KiB in QuestDB's folder, median. */
  readonly fsync: number
}

/** Writes whole minutes into the tables of the service, one after another, through its store. */
export async function commitsAlone(server: QuestdbServer, nextMinute: () => number): Promise<Alone> {
  const { stores, acks } = await openOver(server, prefixOfService)
  try {
    for (let n = 0; n < minutesAlone; n++) {
      const minute = nextMinute()
      const batch = market.flatMap(({ feed, names }) =>
        barsOfMinute(names, minute).map(({ name, bars }) => ({
          series: { feed, symbol: compoundKey(feed, name), resolution: '1' as const },
          bars,
        })),
      )
      await stores.bars.write(batch, 'live')
      await systemClock.sleep(pauseMs)
    }
  } finally {
    await stores.close()
  }
  const counted = acks.slice(warmUps)
  return { p50: quantile(counted, 0.5), p99: quantile(counted, 0.99), fsync: fsyncMs(server.folder) }
}

export const printAlone = ({ p50, p99, fsync }: Alone): void =>
  console.log(
    `\nthe same rows sent alone: commit p50 ${ms(p50)}, p99 ${ms(p99)}; write and fsync of 4 KiB: ${fsync.toFixed(2)} ms`,
  )

function fsyncMs(folder: string): number {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4_096, 1)
  const times = Array.from({ length: syncs }, () => {
    const begun = performance.now()
    writeSync(file, block)
    fsyncSync(file)
    return performance.now() - begun
  })
  closeSync(file)
  rmSync(path)
  return quantile(times, 0.5)
}
