import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../../core/failure.ts'
import { setHeaders } from '../../answer.ts'
import { type PageFile, pageFiles } from './page-files.ts'

/** The browser loads files of this address only, and runs no script or style that is not a file. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const documents = { '/': 'index.html', '/docs': 'docs.html' } as const

export function addPageRoutes(app: FastifyInstance): void {
  const files = pageFiles()
  for (const [path, name] of Object.entries(documents)) {
    app.get(path, (request, reply) => {
      setHeaders(reply, { 'Content-Security-Policy': policy })
      return sendFile(request, reply, files.documents.get(name))
    })
  }
  app.get<{ Params: { digest: string; '*': string } }>('/page/:digest/*', (request, reply) => {
    const { digest, '*': path } = request.params
    const file = digest === files.digest ? files.assets.get(path) : undefined
    if (file) setHeaders(reply, { 'Cache-Control': 'public, max-age=31536000, immutable' })
    return sendFile(request, reply, file)
  })
}

function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: PageFile | undefined,
): FastifyReply {
  if (!file) throw new Failure('NOT_FOUND')
  setHeaders(reply, { Vary: 'Accept-Encoding' })
  reply.type(file.type)
  if (!/\bgzip\b/.test(String(headers['accept-encoding']))) return reply.send(file.plain)
  setHeaders(reply, { 'Content-Encoding': 'gzip' })
  return reply.send(file.gzip)
}
