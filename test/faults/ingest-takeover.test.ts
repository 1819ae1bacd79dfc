import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../services/platform/system-clock.ts'
import { type Pod, startCluster } from '../support/cluster/cluster.ts'
import { effort } from '../support/effort.ts'
import { oneSymbolFeed, simulated } from '../support/one-symbol-feed.ts'

/** As the design promises, and what a machine that is busy with other tests may add. */
const takeoverMs = 15_000 + 15_000
const patienceMs = 240_000
const rounds = effort > 1 ? 4 : 1

/** The sum of a metric over its labels. */
async function metricOf({ opsPort }: Pod, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
const liveSessions = (pod: Pod): Promise<number> => metricOf(pod, /^fxd_ingest_sessions\{mode="live"\}/)

test(
  'an ingest that stands still loses its feed to another within 15 s, and gives it up when it goes on',
  async () => {
    const feeds = mkdtempSync(join(tmpdir(), 'fxd-takeover-'))
    onTestFinished(() => rmSync(feeds, { recursive: true, force: true }))
    writeFileSync(join(feeds, 'feed.yaml'), oneSymbolFeed(simulated))
    const cluster = await startCluster({ rest: 1, stream: 0, ingest: 2, feeds })
    onTestFinished(async () => void (await cluster.stop()))
    const collector = cluster.pod('collector-brokera-zero').program
    const said = (words: string): number =>
      readFileSync(collector.log, 'utf8').split(`"msg":"${words}"`).length - 1
    const says = async (words: string, before: number): Promise<number> => {
      const begunMs = systemClock.monotonicMs()
      while (said(words) <= before) {
        const tookMs = systemClock.monotonicMs() - begunMs
        if (tookMs > takeoverMs) throw new Error(`no "${words}" within ${takeoverMs} ms`)
        await pause(50)
      }
      return systemClock.monotonicMs() - begunMs
    }
    await says('collecting', 0)

    const ingests = [cluster.pod('ingest-1'), cluster.pod('ingest-2')]
    const took: number[] = []
    for (let round = 0; round < rounds; round++) {
      const counts = await Promise.all(ingests.map(liveSessions))
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1])
      const active = ingests[counts.indexOf(1)] as Pod
      const other = ingests[counts.indexOf(0)] as Pod
      const before = said('collecting')
      await active.program.freeze()
      took.push(await says('collecting', before))
      expect(await liveSessions(other)).toBe(1)
      active.program.thaw()
      await expect.poll(() => liveSessions(active), { timeout: takeoverMs }).toBe(0)
      expect(await liveSessions(other)).toBe(1)
      expect(said('collecting')).toBe(before + 1)
    }
    console.info(`takeovers from a frozen ingest in ms: ${took.map(Math.round).join(', ')}`)
    const alarms = await Promise.all(ingests.map((pod) => metricOf(pod, /^fxd_ingest_alarms_total\{/)))
    expect(alarms).toEqual([0, 0])
    expect(await cluster.stop()).toEqual([])
  },
  patienceMs,
)
