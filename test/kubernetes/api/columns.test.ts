import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { ApiKeyStatus, FeedStatus, StreamPoolStatus } from '../../../operator/kube/kinds.ts'
import { resources } from '../../../operator/kube/resources.ts'
import { type Kubectl, run } from '../cluster/kubectl.ts'
import { kubernetesPrograms } from '../cluster/programs.ts'
import { writeKubeconfig } from './support/api-server.ts'
import { openSetting } from './support/setting.ts'

/** kubectl as an administrator of this namespace. */
function kubectlIn(namespace: string): Kubectl {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-schemas-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  const { url, ca, adminToken: token } = inject('apiServer')
  writeKubeconfig(kubeconfig, { url, ca, token, namespace })
  return (...args) => run([kubernetesPrograms().kubectl, '--kubeconfig', kubeconfig, ...args])
}

/** The only row of each of kubectl's tables, which an empty line separates: column to value. */
function rowsOf(output: string): Readonly<Record<string, string>>[] {
  return output
    .trimEnd()
    .split('\n\n')
    .map((table) => {
      const [head = '', ...rows] = table.split('\n')
      expect(rows, head).toHaveLength(1)
      const columns = [...head.matchAll(/\S+\s*/g)]
      return Object.fromEntries(
        columns.map(({ 0: name, index }, i) => [
          name.trim(),
          (rows[0] ?? '').slice(index, columns[i + 1]?.index).trim(),
        ]),
      )
    })
}

const at = '2036-11-23T00:00:00Z'
const conditions = [
  { type: 'Ready', status: 'True', reason: 'Fine', message: 'All is fine.', lastTransitionTime: at },
] as const
const addresses = ['https://t.example.org/a/0', 'https://t.example.org/a/1']
const feedStatus: FeedStatus = { key: 'A:B', state: 'live', symbols: 3, newestBar: at, addresses, conditions }
const keyStatus: ApiKeyStatus = {
  id: 'a',
  prefix: 'fxd_0123',
  state: 'active',
  secretName: 'a',
  expiresAt: at,
  conditions,
}
const poolStatus: StreamPoolStatus = {
  replicas: 3,
  readyReplicas: 1,
  drainingReplicas: 0,
  connections: 7,
  conditions,
}

/** Rows of `kubectl get -o wide` for the objects with these statuses. */
const age = expect.stringMatching(/^\d+s$/) as string
const feedRow = {
  NAME: 'a',
  KEY: 'A:B',
  SOURCE: 'Push',
  STATE: 'live',
  SYMBOLS: '3',
  NEWEST: at,
  ADDRESS: addresses[0] ?? '',
  READY: 'True',
  REASON: 'Fine',
  AGE: age,
}
const keyRow = {
  NAME: 'a',
  ID: 'a',
  PREFIX: 'fxd_0123',
  PLAN: 'basic',
  STATE: 'active',
  SECRET: 'a',
  EXPIRES: at,
  READY: 'True',
  REASON: 'Fine',
  AGE: age,
}
const poolRow = {
  NAME: 'a',
  WANTED: '2',
  SHARDS: '3',
  READY: '1',
  DRAINING: '0',
  SOCKETS: '7',
  REASON: 'Fine',
  AGE: age,
}

test('once objects have a status, kubectl get shows a value in every column', async () => {
  const own = await openSetting(inject('apiServer'))
  onTestFinished(() => own.close())
  await own.applyFeed('a')
  await own.applyKey('a')
  await own.applyPool('a', { template: {} })
  await own.admin.patch(`${own.path(resources.feeds, 'a')}/status`, { status: feedStatus })
  await own.admin.patch(`${own.path(resources.apikeys, 'a')}/status`, { status: keyStatus })
  await own.admin.patch(`${own.path(resources.streampools, 'a')}/status`, { status: poolStatus })
  const kubectl = kubectlIn(own.namespace)
  expect(rowsOf(await kubectl('get', 'fd', '-o', 'wide'))).toEqual([feedRow])
  expect(rowsOf(await kubectl('get', 'ak', '-o', 'wide'))).toEqual([keyRow])
  expect(rowsOf(await kubectl('get', 'sp', '-o', 'wide'))).toEqual([poolRow])
  expect(rowsOf(await kubectl('get', 'fxd', '-o', 'wide'))).toEqual([
    { ...keyRow, NAME: 'apikey.marketdata.fxd.dev/a' },
    { ...feedRow, NAME: 'feed.marketdata.fxd.dev/a' },
    { ...poolRow, NAME: 'streampool.marketdata.fxd.dev/a' },
  ])
})
