import { once } from 'node:events'
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { Client, credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { CertificateFixture } from '../../test/support/fixtures/certificate-fixture.ts'
import { authorizeCalls } from './authorize-calls.ts'
import { handshakeTimeoutMs } from './limits.ts'
import { listen } from './listen.ts'
import { serverCredentials } from './server-credentials.ts'
import { UnauthenticatedConnections } from './unauthenticated-connections.ts'

const path = '/test.Echo/Echo'
const same = (bytes: Buffer): Buffer => bytes

async function start(connectionsMax: number, serverSide = ServerCredentials.createInsecure()) {
  const counted = { open: 0, dropped: 0, failed: 0 }
  const unauthenticated = new UnauthenticatedConnections()
  const refusal = { code: status.UNAUTHENTICATED, details: 'no credential' }
  const server = new Server({
    interceptors: [
      authorizeCalls(
        async (_path, metadata) => (metadata.get('authorization').length > 0 ? undefined : refusal),
        (_path, peer) => unauthenticated.authenticated(peer),
      ),
    ],
  })
  server.register(
    path,
    (call: { request: Buffer }, answer: (error: null, value: Buffer) => void) => answer(null, call.request),
    same,
    same,
    'unary',
  )
  const listening = await listen(server, {
    host: '127.0.0.1',
    port: 0,
    credentials: serverSide,
    connectionsMax,
    unauthenticated,
    counts: {
      opened: () => void (counted.open += 1),
      closed: () => void (counted.open -= 1),
      dropped: () => void (counted.dropped += 1),
      acceptFailed: () => void (counted.failed += 1),
    },
  })
  onTestFinished(() => {
    void listening.close()
    server.forceShutdown()
  })
  return { listening, counted, echo: echoClient(listening.port) }
}

/** A client on a connection of its own, with a credential. */
function echoClient(port: number, clientSide = credentials.createInsecure()) {
  const options = { 'grpc.use_local_subchannel_pool': 1 }
  const client = new Client(`127.0.0.1:${port}`, clientSide, options)
  onTestFinished(() => client.close())
  const metadata = new Metadata()
  metadata.set('authorization', 'Bearer of-the-test')
  return (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, same, same, Buffer.from(text), metadata, (error, value) => {
        if (error) reject(error)
        else resolve(String(value))
      })
    })
}

/** A connection of a client without a credential; `call` makes a call whose request never ends. */
async function stranger(port: number) {
  const connection = connectHttp2(`http://127.0.0.1:${port}`)
  connection.on('error', () => undefined)
  onTestFinished(() => connection.destroy())
  await once(connection, 'connect')
  const call = async (): Promise<unknown> => {
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
    const stream = connection.request(head, { endStream: false })
    stream.on('error', () => undefined)
    const answer = await new Promise<IncomingHttpHeaders>((resolve) => void stream.once('response', resolve))
    return answer['grpc-status']
  }
  return { connection, call }
}

const silent = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

test('a new connection above the maximum replaces the oldest one without a credential, and is counted', async () => {
  const { listening, counted, echo } = await start(3)
  expect(await echo('first')).toBe('first')
  const oldest = await silent(listening.port)
  await expect.poll(() => counted.open).toBe(2)
  const next = await silent(listening.port)
  await expect.poll(() => counted.open).toBe(3)
  expect(await echoClient(listening.port)('newcomer')).toBe('newcomer')
  await once(oldest.resume(), 'close')
  await expect.poll(() => counted).toEqual({ open: 3, dropped: 1, failed: 0 })
  expect([await echo('still'), next.destroyed]).toEqual(['still', false])
})

test('a new connection above the maximum is dropped while all others have a credential', async () => {
  const { listening, counted, echo } = await start(2)
  const other = echoClient(listening.port)
  await echo('first')
  await other('second')
  const beyond = await silent(listening.port)
  await once(beyond.resume(), 'close')
  expect(counted).toEqual({ open: 2, dropped: 1, failed: 0 })
  expect([await echo('still'), await other('still')]).toEqual(['still', 'still'])
})

test('clients with a credential are served while strangers use all connections for refused calls', async () => {
  const { listening, counted, echo } = await start(20)
  const strangers = await Promise.all(Array.from({ length: 20 }, () => stranger(listening.port)))
  for (let rounds = 0; rounds < 3; rounds += 1)
    for (const { call } of strangers) expect(await call()).toBe(String(status.UNAUTHENTICATED))
  expect(counted).toEqual({ open: 20, dropped: 0, failed: 0 })
  const clients = Array.from({ length: 10 }, () => echoClient(listening.port))
  for (const client of [echo, ...clients]) expect(await client('served')).toBe('served')
  expect(counted).toMatchObject({ dropped: 11 })
  // A flood of further strangers replaces strangers only.
  for (let count = 0; count < 30; count += 1) await stranger(listening.port)
  for (const client of [echo, ...clients]) expect(await client('still')).toBe('still')
  await expect.poll(() => counted).toMatchObject({ open: 20, dropped: 41 })
})

test('a refused call is closed although its client never ends its request', async () => {
  const { listening, counted } = await start(10)
  const { connection } = await stranger(listening.port)
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = connection.request(head, { endStream: false }).resume()
  const answer = once(stream, 'response')
  await once(stream, 'close')
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  expect((await answer)[0]).toMatchObject({ 'grpc-status': String(status.UNAUTHENTICATED) })
  expect(counted).toEqual({ open: 1, dropped: 0, failed: 0 })
})

test('after close no connection is accepted, and open connections continue', async () => {
  const { listening, echo } = await start(10)
  await echo('first')
  void listening.close()
  const late = connect(listening.port, '127.0.0.1')
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNREFUSED')
  expect(await echo('still')).toBe('still')
})

test('listening on an address in use rejects', async () => {
  const { listening } = await start(10)
  const second = listen(new Server(), {
    host: '127.0.0.1',
    port: listening.port,
    credentials: ServerCredentials.createInsecure(),
    connectionsMax: 1,
    unauthenticated: new UnauthenticatedConnections(),
  })
  await expect(second).rejects.toThrow('EADDRINUSE')
})

/** Credentials of a server with a certificate, and the authority that signed it. */
function serverTls() {
  const certificates = new CertificateFixture()
  onTestFinished(() => certificates.remove())
  const ca = certificates.read(certificates.authority('ours'))
  const { cert, key } = certificates.certificate('server')
  const pair = { cert: certificates.read(cert), key: certificates.read(key) }
  return { ca, credentials: serverCredentials({ value: { ca: undefined, pair }, onChange: () => undefined }) }
}

test('above the maximum a TLS handshake under way is cut, and a TLS connection with a credential is not', async () => {
  const tls = serverTls()
  const { listening, counted } = await start(2, tls.credentials)
  const echo = echoClient(listening.port, credentials.createSsl(tls.ca))
  expect(await echo('first')).toBe('first')
  for (let count = 0; count < 5; count += 1) await silent(listening.port)
  await expect.poll(() => counted).toEqual({ open: 2, dropped: 4, failed: 0 })
  const other = echoClient(listening.port, credentials.createSsl(tls.ca))
  expect([await other('newcomer'), await echo('still')]).toEqual(['newcomer', 'still'])
})

test(
  'a TLS connection with a silent client is closed and no longer counts',
  async () => {
    const { listening, counted } = await start(10, serverTls().credentials)
    const socket = await silent(listening.port)
    await once(socket.resume(), 'close')
    await expect.poll(() => counted.open).toBe(0)
  },
  4 * handshakeTimeoutMs,
)
