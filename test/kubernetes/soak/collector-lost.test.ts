import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bar, minutes } from '../../acceptance/client/bars.ts'
import { barsOf, type History } from '../../acceptance/client/history.ts'
import { within } from '../../faults/support/within.ts'
import { outOfService } from '../cluster/worker.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { ExportsFeed } from '../installed/exports-feed.ts'
import { namespace } from '../installed/installed.ts'
import { apiKey, wideLimits } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, recoveryMs } from './expect-nothing-missed.ts'

/** A lost node with a collector on it. The volume of its spool survives. */
const startTimeoutMs = 900_000
const symbol = 'BTCUSD'
const minutesBefore = 60
const minutesInSpool = 120

const readyStatus = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'

let loaded: UnderLoad
let collector: CollectorPod
let key = ''
let exports: ExportsFeed
const begin = Math.floor(Date.now() / 60_000) * 60 - (minutesBefore + minutesInSpool + 10) * 60
const all = minutes(begin, minutesBefore + minutesInSpool, 1.1, 5)

beforeAll(async () => {
  loaded = await startUnderLoad({ nodes: 3, hoursBack: 23 })
  exports = await ExportsFeed.apply(loaded.installed, [symbol], all.slice(0, minutesBefore))
  const readers = apiKey('readers', { ...wideLimits, feeds: [ExportsFeed.key] })
  await loaded.installed.cluster.apply(readers)
  await Promise.all([loaded.ready('feed', ExportsFeed.object), loaded.ready('apikey', 'readers')])
  key = await deliveredKey(loaded.installed.cluster, namespace, 'readers')
  collector = new CollectorPod(loaded, ExportsFeed.object)
}, startTimeoutMs)
afterAll(() => loaded?.stop())

async function stored(): Promise<readonly Bar[]> {
  const path = `/v1/history?symbol=${ExportsFeed.key}:${symbol}&resolution=1&countback=1000`
  const { status, body } = await loaded.outside.get(path, key)
  return status === 200 ? barsOf(body as History) : []
}
const isStored = (bars: readonly Bar[]): Promise<void> =>
  within(recoveryMs, `${bars.length} bars in history`, async () => (await stored()).length >= bars.length)
const isReady = async (name: string, status: string): Promise<boolean> =>
  (await loaded.installed.cluster.kubectl('get', 'node', name, readyStatus)) === status
const scaleIngest = (replicas: number): Promise<string> =>
  loaded.kubectl('scale', 'deploy/fxd-ingest', `--replicas=${replicas}`)

test('a collector on another node finds the spool on the volume, and all its bars are stored', async () => {
  await isStored(all.slice(0, minutesBefore))
  await scaleIngest(0)
  await loaded.kubectl(
    'wait',
    'pods',
    '-l',
    'app.kubernetes.io/component=ingest',
    '--for=delete',
    '--timeout=120s',
  )
  exports.append(symbol, all.slice(minutesBefore))
  const isSpooled = async (): Promise<boolean> => (await collector.value('spool_bars')) >= minutesInSpool
  await within(recoveryMs, 'the spool to contain what was written', isSpooled)
  // From here on only the spool has these bars.
  exports.remove(symbol)

  const at = await collector.place()
  const lost = loaded.installed.cluster.nodes.find(({ name }) => name === at)
  if (lost === undefined) throw new Error(`the collector runs on "${at}", which is no node of this cluster`)
  await lost.powerCut()
  await within(recoveryMs, `${lost.name} to be unknown`, () => isReady(lost.name, 'Unknown'))
  // As in docs/kubernetes.md: only a person knows that the node is off.
  const { kubectl } = loaded.installed.cluster
  await kubectl('taint', 'nodes', lost.name, `${outOfService}=nodeshutdown:NoExecute`)
  await within(
    recoveryMs,
    'the collector to run on another node',
    async () => !['', lost.name].includes(await collector.place()),
  )
  await collector.ready()
  await within(recoveryMs, 'the spool to be found', isSpooled)

  await scaleIngest(2)
  await isStored(all)
  expect(await stored()).toEqual(all)
  await within(recoveryMs, 'the spool to be empty', async () => (await collector.value('spool_bars')) === 0)
  await lost.start()
  await kubectl('taint', 'nodes', lost.name, `${outOfService}:NoExecute-`)
  await loaded.shards(2)
  await expectNothingMissed(loaded, `node of a collector lost, ${minutesInSpool} bars of its spool stored`)
})
