import { parseAnswer } from '../../../services/core/terminal/answer.ts'
import type { AnswerLine, TerminalHello, TerminalLine } from '../../../services/core/terminal/lines.ts'
import type { PostedTo } from '../samples/posting-terminal.ts'
import { formatPost } from './format-post.ts'

/** Posts over HTTP. The numbers of its sessions are those of the endpoint. */
export class TerminalPoster implements PostedTo {
  readonly #url: string
  readonly #token: string
  #session = 0
  #sequence = 0

  /** `address`: host:port of the endpoint. */
  constructor(address: string, token: string) {
    this.#url = `http://${address}/v1/terminal`
    this.#token = token
  }

  /** The number of the session; 0: none. */
  get session(): number {
    return this.#session
  }

  begin(_session: number, hello: TerminalHello): Promise<readonly AnswerLine[]> {
    this.#session = 0
    this.#sequence = 0
    return this.#post([{ line: 'hello', hello }])
  }

  take(_session: number, lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]> {
    this.#sequence += 1
    return this.#post(lines)
  }

  end(): void {
    this.#session = 0
  }

  async #post(lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]> {
    const body = formatPost({ session: this.#session, sequence: this.#sequence, lines })
    const headers = { authorization: `Bearer ${this.#token}` }
    const response = await fetch(this.#url, { method: 'POST', headers, body })
    const text = await response.text()
    const answer = response.status === 200 ? parseAnswer(text) : undefined
    if (!answer || 'code' in answer) throw new Error(`${response.status} ${text}`)
    this.#session = answer.session
    return answer.lines
  }
}
