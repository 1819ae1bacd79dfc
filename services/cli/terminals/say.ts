import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { parseAnswer } from '../../core/terminal/answer.ts'
import { headOf } from '../../core/terminal/head.ts'
import { fileReason } from '../../platform/files/path-failures.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { Terminal } from '../terminal.ts'
import { examples } from './examples.ts'
import { sentenceOf } from './sentences.ts'

interface SayRequest {
  readonly address: string
  readonly file: string | undefined
  readonly token: string
}

/** Posts each part in one session. Ends with the first refusal. */
export async function sayLines({ address, file, token }: SayRequest, terminal: Terminal): Promise<void> {
  const url = urlOf(address)
  let [session, sequence] = [0, 0]
  for (const lines of withHello(file === undefined ? examples : postsOf(await textOf(file, terminal)))) {
    if (isHello(lines)) [session, sequence] = [0, 0]
    else sequence += 1
    terminal.out(`Posting ${namesOf(lines)} as ${session}/${sequence}.\n`)
    const answer = await post(url, token, headOf({ session, sequence }) + lines)
    ;({ session } = answer)
    for (const line of answer.lines) terminal.out(`  ${sentenceOf(line)}\n`)
  }
}

const isHello = (lines: string): boolean => lines.startsWith('hello\t')
const withHello = (posts: readonly string[]): readonly string[] =>
  posts[0] !== undefined && isHello(posts[0]) ? posts : [...examples.slice(0, 1), ...posts]
const namesOf = (lines: string): string => {
  const names = lines.split('\n').flatMap((line) => /^[a-z]+/.exec(line)?.[0] ?? [])
  return [...new Set(names)].join(', ') || 'no known line'
}

function urlOf(address: string): URL {
  const path = '/v1/terminal'
  try {
    const url = new URL(address.includes('://') ? address : `http://${address}`)
    if (!url.pathname.endsWith(path)) url.pathname = url.pathname.replace(/\/*$/, path)
    return url
  } catch {
    throw new Fatal(
      'usage',
      `got the address ${address}, wanted one such as 127.0.0.1:8091 or https://host/prefix`,
    )
  }
}

async function textOf(file: string, terminal: Terminal): Promise<string> {
  if (file === '-') return readText(terminal.input())
  try {
    return readFileSync(resolve(terminal.folder, file), 'utf8')
  } catch (cause) {
    throw new Fatal('noInput', `The file ${file} ${fileReason(cause) ?? (cause as Error).message}.`, cause)
  }
}

/** An empty line ends a post. */
const postsOf = (text: string): readonly string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== '')
    .map((part) => `${part.replace(/^\n+|\n+$/g, '')}\n`)

async function post(url: URL, token: string, body: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain; charset=utf-8' }
  const { status, text } = await fetch(url, { method: 'POST', headers, body }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (cause: unknown) => {
      const { cause: inner, message } = cause as Error
      const why = inner instanceof Error ? inner.message : message
      throw new Fatal('unavailable', `${url.href} does not answer: ${why}.`, cause)
    },
  )
  const [word, code, sentence = ''] = text.trimEnd().split('\t')
  if (status !== 200)
    throw new Fatal(
      'refused',
      word === 'error'
        ? `The collector refused this post (${status} ${code}): ${sentence}`
        : `${url.href} answered ${status}, not as a collector does.`,
    )
  const answer = parseAnswer(text)
  if ('code' in answer)
    throw new Fatal('refused', `${url.href} did not answer as a collector does: ${answer.sentence}`)
  return answer
}
