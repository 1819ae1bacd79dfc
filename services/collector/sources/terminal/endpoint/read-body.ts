import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../../ports/clock.ts'
import { Refusal } from './refusal.ts'

const bodyBytesMax = 1_048_576
const bodyMsMax = 10_000

/** Throws the `Refusal` of a body that says it is too large, so that nothing of it is read. */
export function refuseLarge({ headers }: IncomingMessage): void {
  if (Number(headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge()
}

/** Reads a body as text. Rejects with a `Refusal` if it is too large, too slow or not UTF-8. */
export async function readBody(body: IncomingMessage, clock: Clock): Promise<string> {
  const bytes = await readBytes(body, clock)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal('BAD_POST', 'The body is not UTF-8; send it as UTF-8 without compression.')
  }
}

function readBytes(body: IncomingMessage, clock: Clock): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    const end = (): void => {
      cancel()
      body.off('data', take).off('end', done).off('close', cut)
      // What still comes is dropped, so that the answer can be read.
      body.resume()
    }
    const refuse = (refusal: Refusal): void => {
      end()
      reject(refusal)
    }
    const take = (part: Buffer): void => {
      bytes += part.length
      parts.push(part)
      if (bytes > bodyBytesMax) refuse(tooLarge())
    }
    const done = (): void => {
      end()
      resolve(Buffer.concat(parts, bytes))
    }
    const cut = (): void =>
      refuse(new Refusal('BAD_POST', 'The connection was closed before the body arrived.'))
    const cancel = clock.after(bodyMsMax, () =>
      refuse(
        new Refusal('SLOW_BODY', `The body did not arrive within ${bodyMsMax / 1_000} s; post it again.`),
      ),
    )
    body.on('data', take).on('end', done).on('close', cut)
  })
}

const tooLarge = (): Refusal =>
  new Refusal('TOO_LARGE', `The body has more than ${bodyBytesMax} bytes, the maximum; post less.`)
