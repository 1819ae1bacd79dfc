import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registryClient } from '../../../services/wire/unary-client.ts'
import { within } from '../../faults/within.ts'
import { addressKey } from '../cluster/objects.ts'
import { startUnderLoad, type UnderLoad } from '../cluster/under-load.ts'

/** Rotation of token files as docs/operations.md tells it: no session, socket or request fails. */
const startTimeoutMs = 900_000
const patienceMs = 180_000
/** The kubelet of these tests looks at Secrets every 5 s, and fxd at its files every 10. */
const inUseMs = 30_000
/** Both ingests answer in turn. */
const callsInARow = 8

let loaded: UnderLoad
let ingest = ''
beforeAll(async () => {
  loaded = await startUnderLoad()
  ingest = `${loaded.installed.cluster.network.address}:8090`
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const fresh = (): string => randomBytes(32).toString('hex')

async function linesOf(secret: string, field: string): Promise<string> {
  const encoded = await loaded.kubectl('get', 'secret', secret, `-o=jsonpath={.data.${field}}`)
  return Buffer.from(encoded, 'base64').toString().trim()
}

async function write(secret: string, field: string, ...lines: readonly string[]): Promise<void> {
  const stringData = { [field]: `${lines.join('\n')}\n` }
  await loaded.kubectl('patch', 'secret', secret, '--type=merge', '-p', JSON.stringify({ stringData }))
}

/** How many of some calls of administration, each over a connection of its own, are accepted. */
async function accepted(token: string): Promise<number> {
  let count = 0
  for (let calls = 0; calls < callsInARow; calls += 1) {
    const client = registryClient(ingest, { token })
    await client.call('ListFeeds', {}).then(
      () => (count += 1),
      () => undefined,
    )
    client.close()
  }
  return count
}

test('the administration token is rotated while the operator works', async () => {
  const [old, next] = [await linesOf('fxd-admin-token', 'token'), fresh()]
  await write('fxd-admin-token', 'token', old, next)
  await within(patienceMs, 'both tokens to be accepted', async () => (await accepted(next)) === callsInARow)
  await write('fxd-admin-token', 'token', next, old)
  await pause(inUseMs)
  await write('fxd-admin-token', 'token', next)
  await within(patienceMs, 'the old token to be refused', async () => (await accepted(old)) === 0)
  await loaded.installed.cluster.apply(addressKey('rotated', loaded.installed.cluster.network.machineAddress))
  await loaded.ready('apikey', 'rotated')
  expect(loaded.traffic.judgePlanned()).toEqual([])
})

test('the token of shards is rotated, and shards are drained with the new one', async () => {
  const [old, next] = [await linesOf('fxd-shard-token', 'token'), fresh()]
  for (const lines of [[old, next], [next, old], [next]]) {
    await write('fxd-shard-token', 'token', ...lines)
    await pause(inUseMs)
  }
  for (const count of [3, 2]) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${count}`)
    await loaded.shards(count)
  }
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.judgePlanned()).toEqual([])
})

test('signing keys are rotated, and the open session of a collector goes on', async () => {
  const [old, next] = [await linesOf('fxd-signing-keys', 'keys'), fresh()]
  await write('fxd-signing-keys', 'keys', old, next)
  await pause(inUseMs)
  await write('fxd-signing-keys', 'keys', next, old)
  await pause(inUseMs)
  // The operator issues another token, which the new key signs.
  const before = await linesOf('brokera-zero-token', 'token')
  await loaded.kubectl('delete', 'secret', 'brokera-zero-token')
  await loaded.kubectl('wait', '--for=create', 'secret/brokera-zero-token', '--timeout=60s')
  expect(await linesOf('brokera-zero-token', 'token')).not.toBe(before)
  await write('fxd-signing-keys', 'keys', next)
  await pause(inUseMs)
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.judgePlanned()).toEqual([])
  expect(loaded.traffic.brokenSessions).toBe(0)
})
