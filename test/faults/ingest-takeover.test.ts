import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/clients/metric-of.ts'
import { type Pod, startCluster } from '../support/cluster/cluster.ts'
import { effort } from '../support/effort.ts'
import { oneSymbolFeed, simulated } from '../support/samples/one-symbol-feed.ts'
import { countInLog, untilLoggedAgain } from './support/log-messages.ts'

/** Deadline of a takeover: 15 s by design, and 15 s for a busy machine. */
const takeoverMs = 15_000 + 15_000
const rounds = effort > 1 ? 4 : 1
const patienceMs = 180_000 + rounds * 2 * takeoverMs

const collecting = 'collecting"'

const liveSessions = ({ opsPort }: Pod): Promise<number> =>
  metricOf(opsPort, 'fxd_ingest_sessions', { mode: 'live' })

test(
  'a frozen ingest loses its feed to another within 15 s, and ends its sessions when it continues',
  async () => {
    const feeds = mkdtempSync(join(tmpdir(), 'fxd-takeover-'))
    onTestFinished(() => rmSync(feeds, { recursive: true, force: true }))
    writeFileSync(join(feeds, 'feed.yaml'), oneSymbolFeed(simulated))
    const cluster = await startCluster({ rest: 1, stream: 0, ingest: 2, feeds })
    onTestFinished(async () => void (await cluster.stop()))
    const { log } = cluster.pod('collector-brokera-zero').program
    await untilLoggedAgain(log, collecting, 0, takeoverMs)

    const ingests = [cluster.pod('ingest-1'), cluster.pod('ingest-2')]
    const took: number[] = []
    for (let round = 0; round < rounds; round++) {
      const counts = await Promise.all(ingests.map(liveSessions))
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1])
      const active = ingests[counts.indexOf(1)] as Pod
      const other = ingests[counts.indexOf(0)] as Pod
      const before = countInLog(log, collecting)
      await active.program.freeze()
      took.push(await untilLoggedAgain(log, collecting, before, takeoverMs))
      expect(await liveSessions(other)).toBe(1)
      active.program.thaw()
      await expect.poll(() => liveSessions(active), { timeout: takeoverMs }).toBe(0)
      expect(await liveSessions(other)).toBe(1)
      expect(countInLog(log, collecting)).toBe(before + 1)
    }
    console.info(`takeovers from a frozen ingest in ms: ${took.map(Math.round).join(', ')}`)
    const alarms = await Promise.all(
      ingests.map(({ opsPort }) => metricOf(opsPort, 'fxd_ingest_alarms_total')),
    )
    expect(alarms).toEqual([0, 0])
    expect(await cluster.stop()).toEqual([])
  },
  patienceMs,
)
