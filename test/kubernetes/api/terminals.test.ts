import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { FeedSpec } from '../../../operator/kube/kinds.ts'
import { type FeedObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  await (await setting.operator('operator-0')).start()
})
afterAll(() => setting?.close())

const name = 'terminal'
const secret = `${name}-terminal`

const apply = (collector: FeedSpec['collector'] = {}): Promise<FeedObject> =>
  setting.applyFeed(name, { account: 'TERMINAL', source: { type: 'Terminal' }, collector })

const tokenNow = (): Promise<string> => setting.secret(secret, 'token')
/** Resolves with the first token that is not this one. */
const tokenAfter = (old: string): Promise<string> =>
  until('another token', async () => {
    const token = await tokenNow()
    return token === old ? undefined : token
  })
const accepted = async (): Promise<readonly string[]> => (await setting.secret(secret, 'digests')).split('\n')
const lineOf = (token: string): string => `BROKERA:TERMINAL ${hash('sha256', token)}`

test('a Terminal feed gets a token, a Service for each collector, and a collector that reads the digests', async () => {
  await apply({ replicas: 2 })
  const feed = await setting.reason<FeedObject>(resources.feeds, name, 'CollectorStarting')
  const addresses = [0, 1].map((replica) => `https://t.example.org/terminal/${replica}`)
  expect(feed.status?.addresses).toEqual(addresses)
  const token = await tokenNow()
  expect(token).toMatch(/^fxt_[0-9a-f]{32}$/)
  expect(await accepted()).toEqual([lineOf(token)])
  for (const pod of ['terminal-collector-0', 'terminal-collector-1'])
    expect(await setting.get(resources.services, pod)).toMatchObject({
      spec: { selector: { 'statefulset.kubernetes.io/pod-name': pod }, ports: [{ port: 8090 }] },
    })
  const set = JSON.stringify(await setting.get(resources.statefulsets, 'terminal-collector'))
  expect(set).toContain('"FXD_TERMINAL_TOKENS","value":"/etc/fxd/terminal/digests"')
  expect(set).toContain('"FXD_TERMINAL_ADDR"')
  expect(set).toContain('"secretName":"terminal-terminal","items":[{"key":"digests","path":"digests"}]')
})

test('a greater tokenIssue rotates the token, the last one stays valid, and the pods stay', async () => {
  const generationOf = async (): Promise<number | undefined> =>
    (await setting.get(resources.statefulsets, 'terminal-collector'))?.metadata.generation
  const [before, first] = [await generationOf(), await tokenNow()]
  await apply({ replicas: 2, tokenIssue: 2 })
  const second = await tokenAfter(first)
  expect(await accepted()).toEqual([lineOf(second), lineOf(first)])
  await apply({ replicas: 2, tokenIssue: 3 })
  const third = await tokenAfter(second)
  expect(await accepted()).toEqual([lineOf(third), lineOf(second)])
  await setting.reason(resources.feeds, name, 'CollectorStarting')
  expect(await generationOf()).toBe(before)
})

test('a deleted token is replaced, and none of the old ones is accepted', async () => {
  const old = await tokenNow()
  await setting.remove(resources.secrets, secret)
  expect(await accepted()).toEqual([lineOf(await tokenAfter(old))])
})

test('a deleted Service is made again', async () => {
  await setting.remove(resources.services, 'terminal-collector-1')
  await expect.poll(() => setting.get(resources.services, 'terminal-collector-1')).toBeDefined()
})

test('a Terminal feed whose source changes loses token, Services and addresses', async () => {
  await setting.applyFeed(name, { account: 'TERMINAL' })
  const { status } = await setting.reason<FeedObject>(resources.feeds, name, 'Registered')
  expect(status).not.toHaveProperty('addresses')
  await expect.poll(() => setting.get(resources.secrets, secret)).toBeUndefined()
  for (const service of ['terminal-collector-0', 'terminal-collector-1'])
    await expect.poll(() => setting.get(resources.services, service)).toBeUndefined()
})
