import { request } from 'node:http'
import { connect as dial } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, headerNames, read } from './client/http.ts'
import { issueKey } from './client/keys.ts'
import { target } from './client/target.ts'

const paths = ['/v1/config', '/v1/symbols', '/v1/history', '/v1/coverage', '/v1/status', '/v1/usage']
const history = '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=100'

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})

describe('paths and methods', () => {
  test('an unknown path is 404 NOT_FOUND with the error body', async () => {
    for (const path of ['/v1/nothing', '/v1', '/v2/config', '/v1/config/', '/config', '/v1/history/x']) {
      const answer = await ask(path, { key })
      expect(answer.status, path).toBe(404)
      expect(answer.body.error.code).toBe('NOT_FOUND')
      expect(Object.keys(answer.body)).toEqual(['error'])
    }
  })

  test('every path of the service begins with /v1', async () => {
    for (const path of paths) {
      expect((await ask(path, { key })).status, path).not.toBe(404)
      expect((await ask(path.replace('/v1', ''), { key })).status, path).toBe(404)
    }
  })

  test.for(paths)('%s answers GET, HEAD and OPTIONS: other methods are 405 with Allow', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ask(path, { key, method })
      expect(answer.status, method).toBe(405)
      expect(answer.headers.allow?.split(/,\s*/)).toEqual(expect.arrayContaining(['GET', 'HEAD', 'OPTIONS']))
      expect(answer.body.error.code).toBe('METHOD_NOT_ALLOWED')
    }
  })

  test.for(['/v1/config', '/v1/symbols', history, '/v1/coverage', '/v1/status', '/v1/usage'])(
    'HEAD %s is like GET without the body',
    async (path) => {
      const got = await ask(path, { key })
      const head = await ask(path, { key, method: 'HEAD' })
      expect(head.status).toBe(got.status)
      expect(head.text).toBe('')
      const plain = (names: string[]) =>
        names.filter((name) => !/^(date|transfer-encoding|content-length)$/i.test(name))
      expect(plain(headerNames(head)).toSorted()).toEqual(plain(headerNames(got)).toSorted())
      expect(head.headers['content-type']).toBe(got.headers['content-type'])
    },
  )

  test('a stream request without an upgrade is 426', async () => {
    const answer = await ask(`/v1/stream?api_key=${key}`)
    expect(answer.status).toBe(426)
    expect(answer.body.error.code).toBe('UPGRADE_REQUIRED')
  })

  test('all REST answers are JSON', async () => {
    for (const path of [...paths, '/v1/nothing']) {
      const answer = await ask(path, { key })
      expect(answer.headers['content-type'], path).toMatch(/^application\/json/)
    }
  })

  test('an answer that needs a key must not be cached', async () => {
    for (const path of ['/v1/status', history]) {
      expect((await ask(path, { key })).headers['cache-control']).toContain('no-store')
    }
  })
})

describe('pages of other origins', () => {
  const origin = { Origin: 'https://chart.example' }

  test.for(paths)('OPTIONS %s is 204 without a key', async (path) => {
    const answer = await ask(path, {
      method: 'OPTIONS',
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'x-api-key',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase()
    expect(allowed).toContain('x-api-key')
    expect(allowed).toContain('authorization')
  })

  test('pages of any origin may read /v1, refusals included', async () => {
    for (const path of ['/v1/config', '/v1/status', '/v1/nothing']) {
      const answer = await ask(path, { headers: origin })
      expect(answer.headers['access-control-allow-origin'], path).toBe('*')
    }
  })
})

describe('odd requests', () => {
  test('a repeated parameter is 422, never 5xx', async () => {
    const repeated = [
      '/v1/history?symbol=BROKERA:ZERO:BTCUSD&symbol=BROKERA:ZERO:EURUSD&resolution=1&countback=1',
      '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&resolution=5&countback=1',
      '/v1/symbols?limit=1&limit=2',
      '/v1/symbols?search=a&search=b',
      '/v1/coverage?symbol=BROKERA:ZERO:BTCUSD&symbol=BROKERA:ZERO:EURUSD',
      '/v1/usage?days=1&days=2',
    ]
    for (const path of repeated) expect((await ask(path, { key })).status, path).toBe(422)
  })

  test('bracketed, dotted and hostile parameter names are ignored like any unknown name', async () => {
    for (const name of ['symbol[]', 'symbol[a]', 'symbol.a', '__proto__', 'constructor[prototype][x]']) {
      const answer = await ask(`/v1/symbols?${encodeURIComponent(name)}=BROKERA`, { key })
      expect(answer.status, name).toBe(200)
    }
  })

  test('a body on GET is refused or ignored, never 5xx', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await ask('/v1/status', { key, payload: '{"a":', headers: { 'Content-Type': type } })
      expect(answer.status).toBeLessThan(500)
    }
  })

  test('a request target with an invalid encoding is never answered 5xx', async () => {
    for (const path of [
      '/v1/symbols?search=%',
      '/v1/symbols?search=%ff',
      '/v1/%',
      '/v1/symbols?search=%00',
      '//v1',
    ]) {
      const status = await new Promise<number>((resolve, reject) => {
        const { hostname, port } = new URL(target().url)
        request({ hostname, port, path, agent: false, headers: { 'X-API-Key': key } }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
          .on('error', reject)
          .end()
      })
      expect(status, path).toBeLessThan(500)
    }
  })

  test('a request line above every limit is disconnected, and the service keeps running', async () => {
    const { hostname, port } = new URL(target().url)
    const closed = await new Promise<boolean>((resolve, reject) => {
      const socket = dial(Number(port), hostname, () => {
        socket.write(`GET /v1/config?x=${'a'.repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
      })
      socket.on('error', () => resolve(true))
      socket.on('close', () => resolve(true))
      socket.on('data', () => undefined)
      socket.setTimeout(20_000, () => reject(new Error('still open after 20 s')))
    })
    expect(closed).toBe(true)
    await read('/v1/config')
  })

  test('bytes that are not HTTP are answered with an error or a close, and the service keeps running', async () => {
    const { hostname, port } = new URL(target().url)
    const answer = await new Promise<string>((resolve) => {
      const socket = dial(Number(port), hostname, () => socket.end('\x16\x03\x01 not http at all\r\n\r\n'))
      let text = ''
      socket.on('data', (part) => (text += String(part)))
      socket.on('error', () => resolve(text))
      socket.on('close', () => resolve(text))
    })
    expect(answer === '' || answer.startsWith('HTTP/1.1 4')).toBe(true)
    await read('/v1/config')
  })
})

describe('the API documents', () => {
  test('/openapi.json describes the six endpoints, all of them GET, and says which need a key', async () => {
    const answer = await ask<{ openapi: string; paths: Record<string, Record<string, unknown>> }>(
      '/openapi.json',
    )
    expect(answer.status).toBe(200)
    expect(answer.body.openapi).toMatch(/^3\.1/)
    for (const path of paths) expect(Object.keys(answer.body.paths[path] ?? {}), path).toEqual(['get'])
  })

  test('/openapi.json names every parameter of the specification', async () => {
    interface Operation {
      parameters: { name: string; in: string; required?: boolean }[]
    }
    const { paths: described } = (await ask<{ paths: Record<string, { get: Operation }> }>('/openapi.json'))
      .body
    const wanted = {
      '/v1/symbols': ['symbol', 'search', 'limit', 'offset'],
      '/v1/history': ['symbol', 'resolution', 'from', 'to', 'countback'],
      '/v1/coverage': ['symbol'],
      '/v1/usage': ['days'],
    }
    for (const [path, names] of Object.entries(wanted)) {
      const given = described[path]?.get.parameters.filter((parameter) => parameter.in === 'query') ?? []
      expect(given.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
    }
  })

  test('/asyncapi.json describes the messages of a client and the frames of the server', async () => {
    const answer = await ask<{
      asyncapi: string
      channels: { stream: { address: string; messages: object } }
      components: { schemas: Record<string, { properties: object }> }
    }>('/asyncapi.json')
    expect(answer.status).toBe(200)
    expect(answer.body.asyncapi).toBe('3.0.0')
    const { stream } = answer.body.channels
    expect(stream.address).toBe('/v1/stream')
    expect(Object.keys(stream.messages)).toEqual(
      expect.arrayContaining(['subscribe', 'unsubscribe', 'ping', 'connected', 'subscribed', 'unsubscribed']),
    )
    expect(Object.keys(stream.messages)).toEqual(
      expect.arrayContaining(['bar', 'pong', 'minute', 'error', 'gap']),
    )
    expect(Object.keys(answer.body.components.schemas['subscribe']?.properties ?? {})).toEqual(
      expect.arrayContaining(['action', 'type', 'symbols', 'since', 'markers']),
    )
  })

  test('the page at / and /openapi.json link to /asyncapi.json', async () => {
    const openapi = await ask<{ info: { description: string } }>('/openapi.json')
    expect(openapi.body.info.description).toContain('/asyncapi.json')
    const { text } = await ask('/')
    expect(text).toContain('href="/asyncapi.json"')
    expect(text).toContain('href="/openapi.json"')
  })
})
