import { setTimeout as pause } from 'node:timers/promises'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { Feeder } from './feeder.ts'
import { FxdProcess } from './fxd-process.ts'
import { Market, manifest } from './market.ts'
import { complaintsAtRest, flows } from './quiet.ts'

/** Percent of kills that kill both processes at once. */
const bothPercent = 20
/** Percent of outages that outlast the timeout of a request (9 s); a quick restart never does. */
const longPercent = 25
/** Percent of kills before which QuestDB is frozen for as long, so that requests in progress are lost. */
const hangPercent = 25
const longMs = 12_000
const shortMsMax = 300

export interface KillOptions {
  readonly server: QuestdbServer
  readonly prefix: string
  readonly killsOfEach: number
  readonly random: () => number
  /** Percent of kills of QuestDB before which it is frozen. */
  readonly hangPercent?: number
  /** Root of the source tree to run. */
  readonly root?: string
}

export interface Outcome {
  readonly complaints: readonly string[]
  /** Counts for the output of the run. */
  readonly summary: string
}

/** Kills QuestDB and fxd alternately, and both at once, while bars, corrections and backfill flow. */
export async function killAgain(options: KillOptions): Promise<Outcome> {
  const { server, prefix, killsOfEach, random, root } = options
  const market = new Market(random)
  const { http, pg } = server
  const fxd = await FxdProcess.start({
    http,
    pg,
    prefix,
    manifests: [manifest],
    ...(root !== undefined && { root }),
  })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live(), claims: true }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history() }).start()
  const feeders = [live, history]

  const killed = { questdb: 0, fxd: 0 }
  let slowestMs = 0
  while (killed.questdb < killsOfEach || killed.fxd < killsOfEach) {
    await flows(feeders, 5)
    await pause(market.any(700))
    const isBoth = market.any(100) < bothPercent
    const questdb = isBoth || killed.questdb <= killed.fxd
    const own = isBoth || !questdb
    if (questdb && market.any(100) < (options.hangPercent ?? hangPercent)) {
      await server.freeze()
      await pause(longMs)
    }
    await Promise.all([questdb && server.kill(), own && fxd.kill()])
    killed.questdb += Number(questdb)
    killed.fxd += Number(own)
    await pause(market.any(100) < longPercent ? longMs : market.any(shortMsMax))
    // fxd may start first: it waits for its store.
    await Promise.all([questdb && server.start(), own && fxd.start()])
    const begun = performance.now()
    await flows(feeders, 1)
    slowestMs = Math.max(slowestMs, performance.now() - begun)
  }
  await flows(feeders, 5)
  const complaints = await complaintsAtRest(feeders, market, [fxd])
  const readings = feeders.reduce((sum, feeder) => sum + feeder.readings.length, 0)
  const batches = feeders.reduce((sum, { ackedBatches }) => sum + ackedBatches, 0)
  return {
    complaints,
    summary:
      `QuestDB killed ${killed.questdb} times, fxd ${killed.fxd}; ${readings} readings in ${batches} batches, ` +
      `${live.broken + history.broken} sessions broken, the slowest return took ${Math.round(slowestMs)} ms`,
  }
}
