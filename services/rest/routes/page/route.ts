import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { setHeaders } from '../../answer.ts'

const html = readFileSync(new URL('page.html', import.meta.url), 'utf8')

/** Digests of the page's own style and script; the browser runs and loads nothing else. */
const digests = (tag: string): string =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
    .map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`)
    .join(' ')

const policy = [
  "default-src 'none'",
  `script-src ${digests('script')}`,
  `style-src ${digests('style')}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function addPageRoute(app: FastifyInstance): void {
  app.get('/', (_request, reply) => {
    setHeaders(reply, { 'Content-Security-Policy': policy })
    return reply.type('text/html; charset=utf-8').send(html)
  })
}
