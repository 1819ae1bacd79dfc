import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { HttpKubeApi } from '../../../operator/kube/api.ts'
import { type PoolObject, resources, type Secret } from '../../../operator/kube/resources.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { writeKubeconfig } from './support/api-server.ts'
import { openSetting, type Setting } from './support/setting.ts'
import { shardPool } from './support/shard-pods.ts'

const folder = mkdtempSync(join(tmpdir(), 'fxd-preconditions-'))
let setting: Setting
let api: HttpKubeApi
beforeAll(async () => {
  const { url, ca, operatorToken: token } = inject('apiServer')
  setting = await openSetting(inject('apiServer'))
  const { namespace } = setting
  writeKubeconfig(join(folder, 'kubeconfig'), { url, ca, token, namespace })
  const config = new KubeConfig()
  config.loadFromFile(join(folder, 'kubeconfig'))
  api = new HttpKubeApi({ config, namespace, clock: systemClock, beforeWrite: () => undefined })
})
afterAll(async () => {
  api?.close()
  await setting?.close()
  rmSync(folder, { recursive: true })
})

test('a pool is scaled only if it did not change since it was read', async () => {
  const read = await setting.applyPool('pool', shardPool(8_090))
  const path = setting.path(resources.streampools, 'pool')
  await setting.admin.patch(`${path}/scale`, { spec: { replicas: 5 } })
  await expect(api.scale(resources.streampools, read, 3)).rejects.toMatchObject({ status: 409 })
  const now = (await setting.get<PoolObject>(resources.streampools, 'pool')) as PoolObject
  expect(now.spec.replicas).toBe(5)
  await api.scale(resources.streampools, now, 3)
  expect((await setting.get<PoolObject>(resources.streampools, 'pool'))?.spec.replicas).toBe(3)
})

test('a Secret is deleted only if it did not change since it was read', async () => {
  const path = setting.path(resources.secrets, 'one')
  const { metadata } = await setting.admin.ask<Secret>('POST', setting.path(resources.secrets), {
    metadata: { name: 'one' },
    data: { key: 'b2xk' },
  })
  const { resourceVersion } = (await setting.admin.patch<Secret>(path, { data: { key: 'bmV3' } })).metadata
  const { uid } = metadata
  await api.delete(resources.secrets, 'one', { uid, resourceVersion: metadata.resourceVersion })
  expect((await setting.get<Secret>(resources.secrets, 'one'))?.data).toEqual({ key: 'bmV3' })
  await api.delete(resources.secrets, 'one', { uid, resourceVersion })
  expect(await setting.get(resources.secrets, 'one')).toBeUndefined()
})
