import { explained } from './inspect-file.ts'
import { onDisk, openNameless } from './temporary-file.ts'

export const standardInput = 'standard input'
const use = 'Standard input is kept'

/**
 * Calls `run` with a path of standard input's bytes, because an import reads its file several times. The bytes are
 * in a temporary file without a name, so no file is left however the import ends. Its only limit is the disk of
 * TMPDIR. Throws `Fatal` when that disk cannot store the bytes.
 */
export async function withStandardInput<T>(
  input: AsyncIterable<Uint8Array>,
  run: (path: string) => Promise<T>,
): Promise<T> {
  const file = await onDisk(use, openNameless)
  try {
    await explained(standardInput, async () => {
      for await (const bytes of input) await onDisk(use, () => file.appendFile(bytes))
    })
    return await run(`/dev/fd/${file.fd}`)
  } finally {
    await file.close()
  }
}
