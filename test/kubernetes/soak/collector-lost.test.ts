import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bar, exportText, line, minutes } from '../../acceptance/client/bars.ts'
import { barsOf, type History } from '../../acceptance/client/history.ts'
import { within } from '../../faults/support/within.ts'
import { outOfService } from '../cluster/worker.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { namespace } from '../installed/installed.ts'
import { apiKey, wideLimits } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, recoveryMs } from './expect-nothing-missed.ts'

/** A lost node with a collector on it. The volume of its spool survives. */
const startTimeoutMs = 900_000
const feed = 'EXPORTS:CSV'
const minutesBefore = 60
const minutesInSpool = 120

const readyStatus = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'exports', namespace },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
}
const exportsFeed = {
  apiVersion: 'marketdata.fxd.dev/v1alpha1',
  kind: 'Feed',
  metadata: { name: 'exports', namespace },
  spec: {
    broker: 'EXPORTS',
    account: 'CSV',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 5, session: '24x7' }] },
    source: { type: 'Mt5Csv', path: 'files', follow: true, volumeClaim: 'exports' },
  },
}

let loaded: UnderLoad
let collector: CollectorPod
let key = ''
let file = ''
const begin = Math.floor(Date.now() / 60_000) * 60 - (minutesBefore + minutesInSpool + 10) * 60
const all = minutes(begin, minutesBefore + minutesInSpool, 1.1, 5)

beforeAll(async () => {
  loaded = await startUnderLoad({ nodes: 3, hoursBack: 23 })
  await loaded.installed.cluster.apply(claim)
  await loaded.kubectl('wait', 'pvc/exports', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s')
  const volume = await loaded.kubectl('get', 'pvc/exports', '-o=jsonpath={.spec.volumeName}')
  const folder = await loaded.kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
  file = exportedFile(folder)
  const readers = apiKey('readers', { ...wideLimits, feeds: [feed] })
  await loaded.installed.cluster.apply(exportsFeed, readers)
  await Promise.all([loaded.ready('feed', 'exports'), loaded.ready('apikey', 'readers')])
  key = await deliveredKey(loaded.installed.cluster, namespace, 'readers')
  collector = new CollectorPod(loaded, 'exports')
}, startTimeoutMs)
afterAll(() => loaded?.stop())

/** Writes the whole file at once, as a terminal exports it. */
function exportedFile(folder: string): string {
  const draft = join(folder, 'draft')
  writeFileSync(draft, exportText(all.slice(0, minutesBefore)))
  mkdirSync(join(folder, 'files'))
  const path = join(folder, 'files', 'BTCUSD_M1.csv')
  renameSync(draft, path)
  return path
}

async function stored(): Promise<readonly Bar[]> {
  const path = `/v1/history?symbol=${feed}:BTCUSD&resolution=1&countback=1000`
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
  for (const bar of all.slice(minutesBefore)) appendFileSync(file, line(bar))
  const isSpooled = async (): Promise<boolean> => (await collector.value('spool_bars')) >= minutesInSpool
  await within(recoveryMs, 'the spool to contain what was written', isSpooled)
  // From here on only the spool has these bars.
  rmSync(file)

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
