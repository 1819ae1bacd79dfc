import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { type Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  openStreamFixture,
  type StreamFixture,
  symbolNames,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { Load__Output } from '../../wire/gen/fxd/v1/Load.ts'
import { shardConnectionsMax } from '../../wire/limits.ts'
import { Shard } from '../../wire/load.ts'
import { createShardServer, type ShardServer } from './server.ts'

const token = 'an-administration-token'
let fixture: StreamFixture
let server: ShardServer
let port: number
let client: InstanceType<typeof Shard>

beforeEach(async () => {
  // Second 10 of a minute.
  fixture = await openStreamFixture({ start: 1_767_600_010_000, connectionsMax: 3 })
  const { stream } = fixture
  server = createShardServer({
    stream,
    notReady: () => stream.notReady(),
    tokens: () => [token],
    log: silentLog,
  })
  port = await server.listen('127.0.0.1', 0)
  client = new Shard(`127.0.0.1:${port}`, credentials.createInsecure())
})
afterEach(async () => {
  client.close()
  server.close()
  await fixture.close()
})

/** Calls like the operator; rejects with the gRPC status. */
function call(name: 'GetLoad' | 'Drain' | 'Undrain', request = {}, carried = token): Promise<Load__Output> {
  const metadata = new Metadata()
  if (carried !== '') metadata.set('authorization', `Bearer ${carried}`)
  const method = Shard.service[name]
  return new Promise((resolve, reject) =>
    (client as Client).makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      (error, load) => (error ? reject(error) : resolve(load as Load__Output)),
    ),
  )
}
const failure = (made: Promise<unknown>): Promise<ServiceError> =>
  made.then(
    () => {
      throw new Error('it was accepted')
    },
    (error: unknown) => error as ServiceError,
  )

test('GetLoad answers the sockets, subscriptions and bytes of the shard', async () => {
  const { secret } = await fixture.issue()
  const socket = await fixture.connect(secret)
  await socket.subscribe(symbolNames.slice(0, 5).map((name) => `BROKERA:ZERO:${name}`))
  await fixture.connect(secret)
  expect(await call('GetLoad')).toEqual({
    connections: 2,
    connectionsMax: 3,
    subscriptions: 5,
    backlogBytes: 0,
    ready: true,
    notReadyReason: '',
    draining: false,
    drainSecondsLeft: 0,
    forcedCloses: 0,
  })
})

test('Drain closes all sockets in its time, and Undrain makes the shard accept new ones', async () => {
  const { secret } = await fixture.issue()
  const socket = await fixture.connect(secret)
  expect(await call('Drain', { seconds: 20 })).toMatchObject({
    connections: 1,
    ready: false,
    notReadyReason: 'draining',
    draining: true,
    drainSecondsLeft: 20,
  })
  await fixture.clock.advance(20_000)
  expect(await socket.closed).toEqual({ code: 1012, reason: 'draining' })
  expect(await call('GetLoad')).toMatchObject({ connections: 0, draining: true, drainSecondsLeft: 0 })
  await expect(fixture.connect(secret)).rejects.toThrow('503')
  expect(await call('Undrain')).toMatchObject({ ready: true, draining: false })
  await fixture.connect(secret)
})

test('every call without the administration token is refused', async () => {
  for (const carried of ['', 'another', `${token}x`]) {
    for (const name of ['GetLoad', 'Drain', 'Undrain'] as const) {
      expect((await failure(call(name, {}, carried))).code, `${name} with "${carried}"`).toBe(
        status.UNAUTHENTICATED,
      )
    }
  }
  expect(fixture.stream.draining.isOn).toBe(false)
})

/** Makes a call on a connection of its own, and never ends its request. */
async function callWithoutToken() {
  const connection = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => undefined)
  onTestFinished(() => connection.destroy())
  const head = { ':method': 'POST', ':path': Shard.service.GetLoad.path, 'content-type': 'application/grpc' }
  const stream = connection.request({ ...head, te: 'trailers' }, { endStream: false })
  stream.on('error', () => undefined)
  const answer = await new Promise<IncomingHttpHeaders>((resolve) => void stream.once('response', resolve))
  return { connection, answer }
}

test('a call without the token is refused before its request arrives', async () => {
  const { answer } = await callWithoutToken()
  expect(answer).toMatchObject({ 'grpc-status': String(status.UNAUTHENTICATED) })
})

test('the operator is served while strangers use all connections for calls whose request never ends', async () => {
  const strangers = await Promise.all(Array.from({ length: shardConnectionsMax }, callWithoutToken))
  expect(await call('GetLoad')).toMatchObject({ ready: true })
  const open = () => strangers.filter(({ connection }) => !connection.destroyed).length
  await expect.poll(open).toBe(shardConnectionsMax - 1)
})

test('a drain longer than an hour is refused with a reason', async () => {
  const { code, details } = await failure(call('Drain', { seconds: 3_601 }))
  expect(code).toBe(status.INVALID_ARGUMENT)
  expect(details).toBe('seconds: got 3601, wanted at most 3600')
})

test('a defect in a call ends that call with INTERNAL, is counted, and the next one is answered', async () => {
  vi.spyOn(fixture.stream, 'load').mockImplementationOnce(() => {
    throw new RangeError('inner words')
  })
  const { code, details } = await failure(call('GetLoad'))
  expect([code, details]).toEqual([status.INTERNAL, 'the service failed'])
  expect(await fixture.metric('fxd_stream_faults_total{place="shard"}')).toBe(1)
  expect(fixture.logged.filter((line) => line.includes('"place":"shard"'))).toHaveLength(1)
  expect(await call('GetLoad')).toMatchObject({ connections: 0 })
})
