import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Fxd } from './fxd.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that redirects all paths but `answered` to another one, which records its requests. */
const open = async (answered: readonly string[]) => {
  const [asked, elsewhere]: [string[], string[]] = [[], []]
  const target = await serve(({ url }, response) => {
    elsewhere.push(url ?? '')
    response.end('{}')
  })
  const url = await serve((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    asked.push(path)
    if (answered.includes(path)) return response.end('{"feeds":{}}')
    return response.writeHead(302, { Location: `${target}${path}` }).end()
  })
  return { fxd: new Fxd({ url, key: 'fxd_x' }), asked, elsewhere, target }
}

test('a redirect of /v1/status ends the iterator with REDIRECTED, and its target gets no request', async () => {
  const { fxd, asked, elsewhere, target } = await open([])
  await expect(fxd.bars('A:B:C').next()).rejects.toMatchObject({
    code: 'REDIRECTED',
    status: 302,
    message: expect.stringContaining(`${target}/v1/status`) as unknown,
  })
  expect(asked).toEqual(['/v1/status'])
  expect(elsewhere).toEqual([])
})

test('a redirect of /v1/stream and what follows ends the iterator, and its target gets no request', async () => {
  const { fxd, asked, elsewhere } = await open(['/v1/status'])
  await expect(fxd.bars('A:B:C').next()).rejects.toMatchObject({ code: 'REDIRECTED' })
  expect(asked).toEqual(['/v1/status', '/v1/stream', '/v1/usage'])
  expect(elsewhere).toEqual([])
})
