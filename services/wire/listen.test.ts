import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { CertificateFixture } from '../../test/support/fixtures/certificate-fixture.ts'
import { handshakeTimeoutMs } from './limits.ts'
import { listen } from './listen.ts'
import { serverCredentials } from './server-credentials.ts'

const path = '/test.Echo/Echo'
const same = (bytes: Buffer): Buffer => bytes

async function start(connectionsMax: number, serverSide = ServerCredentials.createInsecure()) {
  const counted = { open: 0, dropped: 0, failed: 0 }
  const server = new Server()
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
    counts: {
      opened: (by) => void (counted.open += by),
      dropped: () => void (counted.dropped += 1),
      acceptFailed: () => void (counted.failed += 1),
    },
  })
  onTestFinished(() => {
    void listening.close()
    server.forceShutdown()
  })
  const client = new Client(`127.0.0.1:${listening.port}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const echo = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, same, same, Buffer.from(text), (error, value) => {
        if (error) reject(error)
        else resolve(String(value))
      })
    })
  return { listening, counted, echo }
}

const silent = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

test('connections above the maximum are dropped and counted, and calls on other connections continue', async () => {
  const { listening, counted, echo } = await start(3)
  expect(await echo('first')).toBe('first')
  await silent(listening.port)
  const within = await silent(listening.port)
  await expect.poll(() => counted.open).toBe(3)
  const beyond = await silent(listening.port)
  await once(beyond.resume(), 'close')
  expect(counted).toEqual({ open: 3, dropped: 1, failed: 0 })
  expect(await echo('still')).toBe('still')
  within.destroy()
  await expect.poll(() => counted.open).toBe(2)
  await silent(listening.port)
  await expect.poll(() => counted.open).toBe(3)
  expect(counted.dropped).toBe(1)
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
  })
  await expect(second).rejects.toThrow('EADDRINUSE')
})

test(
  'a TLS connection with a silent client is closed and no longer counts',
  async () => {
    const certificates = new CertificateFixture()
    onTestFinished(() => certificates.remove())
    certificates.authority('ours')
    const { cert, key } = certificates.certificate('server')
    const pair = { cert: certificates.read(cert), key: certificates.read(key) }
    const tls = { files: { ca: undefined, pair }, onChange: () => undefined }
    const { listening, counted } = await start(10, serverCredentials(tls))
    const socket = await silent(listening.port)
    await once(socket.resume(), 'close')
    await expect.poll(() => counted.open).toBe(0)
  },
  4 * handshakeTimeoutMs,
)
