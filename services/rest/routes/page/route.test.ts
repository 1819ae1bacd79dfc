import { gunzipSync } from 'node:zlib'
import { parseSync } from 'oxc-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRestFixture, type RestFixture } from '../../../../test/support/fixtures/rest-fixture.ts'
import { pageFiles } from './page-files.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture()
})
afterAll(() => edge.close())

const linked = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map(([, path = '']) => path)

test.for(['/', '/docs'])('%s runs and loads files of its own address only', async (path) => {
  const { status, headers, text } = await edge.ask(path)
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-store',
  ])
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';/,
  )
  expect(text).not.toMatch(/<script>|<style>|style=|https?:/)
  expect(text).toContain('href="/openapi.json"')
  expect(text).toContain('href="/asyncapi.json"')
})

test.for(['/', '/docs'])('%s says what helps while its modules are missing', async (path) => {
  const { text } = await edge.ask(path)
  expect(/<main[^>]*>(.*)<\/main>/s.exec(text)?.[1]).toMatch(/Loading.+reload (it|the page)\./s)
})

test.for(['/', '/docs'])('each file that %s names is there, and a browser may keep it', async (path) => {
  const files = new Set(linked((await edge.ask(path)).text))
  expect(files.size).toBeGreaterThan(4)
  for (const file of files) {
    const { status, headers } = await edge.ask(file)
    expect([file, status, headers['cache-control']]).toEqual([
      file,
      200,
      'public, max-age=31536000, immutable',
    ])
    expect(headers['content-type']).toMatch(/^(text\/(css|javascript)|image\/svg)/)
  }
})

test('scripts are JavaScript, and import only files that are there', () => {
  const { assets } = pageFiles()
  const scripts = [...assets].filter(([, { type }]) => type.startsWith('text/javascript'))
  expect(scripts.length).toBeGreaterThan(30)
  for (const [path, { plain, gzip }] of scripts) {
    expect(gunzipSync(gzip).equals(plain)).toBe(true)
    const { module, errors } = parseSync(path.replace(/\.ts$/, '.js'), String(plain))
    expect([path, errors]).toEqual([path, []])
    expect(String(plain)).not.toMatch(/^ *\/\*\*/m)
    for (const { moduleRequest } of module.staticImports) {
      const imported = new URL(moduleRequest.value, `http://x/${path}`).pathname.slice(1)
      expect(assets.has(imported), `${path} imports ${moduleRequest.value}`).toBe(true)
    }
  }
})

test('a browser that accepts gzip gets the same text in at most 120 kB', async () => {
  const [document, ...files] = await Promise.all(
    ['/', ...linked((await edge.ask('/')).text)].map((path) =>
      edge.ask(path, { headers: { 'Accept-Encoding': 'gzip, br' } }),
    ),
  )
  expect(document?.headers['content-encoding']).toBe('gzip')
  expect(document?.headers['vary']).toBe('Accept-Encoding')
  const bytes = [document, ...files].reduce((sum, each) => sum + Number(each?.headers['content-length']), 0)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThanOrEqual(120_000)
})

test.for([
  '/page/0123456789abcdef/services/page/main.ts',
  `/page/${pageFiles().digest}/package.json`,
  '/page/x',
])('%s, of another release or not of the page, is 404', async (path) => {
  const { status, body } = await edge.ask(path)
  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND'])
})

test('the viewer of the API document has at most 10 kB of its own', () => {
  const { assets, documents } = pageFiles()
  const own = ['services/page/docs.ts', 'services/page/texts/schemas.ts', 'services/page/elements.ts'].map(
    (path) => assets.get(path),
  )
  const bytes = [documents.get('docs.html'), ...own].reduce(
    (sum, file) => sum + (file?.plain.length ?? Number.NaN),
    0,
  )
  expect(bytes).toBeLessThanOrEqual(10_240)
})
