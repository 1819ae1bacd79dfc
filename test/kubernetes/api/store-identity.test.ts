import { expect, inject, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { resources } from '../../../operator/kube/resources.ts'
import { openSetting } from './support/setting.ts'

const waitMs = 60_000
const name = 'fxd-store-identity'

test('the identity of the store is kept in a ConfigMap, made again when deleted, and changed by a new beginning', async () => {
  const identity = { word: 'first', begin: () => Promise.resolve(false) }
  const setting = await openSetting(inject('apiServer'), identity)
  onTestFinished(() => setting.close())
  const kept = async () =>
    (await setting.get<KubeObject & { readonly data?: unknown }>(resources.configmaps, name))?.data
  const operator = await setting.operator('operator-0')
  await operator.start()
  await expect.poll(kept, { timeout: waitMs }).toEqual({ identity: 'first' })
  await setting.remove(resources.configmaps, name)
  await expect.poll(kept, { timeout: waitMs }).toEqual({ identity: 'first' })
  identity.word = 'second'
  await expect.poll(kept, { timeout: waitMs }).toEqual({ identity: 'second' })
}, 200_000)
