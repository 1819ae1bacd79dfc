/** An attack on the port of terminals, without a token, and the terminal of a victim. */
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { terminalTokenDigest } from '../../../services/platform/credentials/terminal-token.ts'
import { TerminalPoster } from '../../support/clients/terminal-poster.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { PostingTerminal } from '../../support/samples/posting-terminal.ts'
import { type Attack, repeat, shareOf } from './attack.ts'
import { dial } from './connections.ts'

const token = `fxt_${'0123456789abcdef'.repeat(2)}`
const symbols = Array.from({ length: 20 }, (_, i) => `SYM${i}`)
const noiseBytes = 10 * 1_048_576

/** Adds a feed for the victim's terminal, and its token, to a folder of `fxd all`. */
export function addTerminalFeed(home: string): void {
  const spec = { broker: 'VICTIM', account: 'LIVE', source: { type: 'Terminal' }, depth: { 1: '1d' } }
  writeFileSync(join(home, 'feeds', 'terminal.yaml'), JSON.stringify(feedManifest(spec)))
  mkdirSync(join(home, 'data'), { mode: 0o700 })
  writeFileSync(join(home, 'data', 'terminal-tokens'), `VICTIM:LIVE ${terminalTokenDigest(token)}\n`)
}

/** The victim's terminal, which posts bars of 20 symbols. */
export async function beginTerminal(address: string): Promise<PostingTerminal> {
  const terminal = new PostingTerminal(new TerminalPoster(address, token), () =>
    Math.floor(Date.now() / 1_000),
  )
  terminal.symbols = [...symbols]
  await terminal.begin()
  return terminal
}

/** 1,000 connections that are silent, or send a head or a body of a byte a second; 10 others post 10 MiB of noise each. */
export const noise: Attack = async (scene, tally) => {
  const address = scene.target.terminal
  const head = 'POST /v1/terminal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer fxt_0\r\n'
  const beginnings = ['', `${head}X-Slow: `, `${head}Content-Length: 1000\r\n\r\n`]
  const body = Buffer.alloc(noiseBytes, 0xfe)
  const open: Socket[] = []
  const connect = (n: number): void => {
    const socket = dial(address, tally)
    open[n] = socket
    socket.write(beginnings[n % beginnings.length] ?? '')
    socket.resume()
    socket.on('close', () => {
      tally.add('cut')
      setTimeout(() => connect(n), 1_000)
    })
  }
  const post = (): void => {
    const again = (): unknown => setTimeout(post, 100)
    const request = http.request(`http://${address}/v1/terminal`, { method: 'POST', agent: false })
    request.on('response', (response) => {
      tally.add(`status ${response.statusCode}`)
      response.resume().on('close', again)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      tally.add(error.code ?? 'error')
      again()
    })
    request.end(body)
  }
  return () => {
    repeat(shareOf(scene, 1_000), connect)
    repeat(shareOf(scene, 10), post)
    setInterval(() => {
      for (const [n, socket] of open.entries())
        if (n % beginnings.length > 0 && socket.writable) socket.write('a')
    }, 1_000)
  }
}
