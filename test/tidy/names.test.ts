import { tidyRule } from './rule.ts'
import { type TextFile, written } from './tree.ts'

const emptyWord = '(manager|helpers?|utils?|utilities|common|misc|stuff|shared)'
const inPath = new RegExp(`(^|[/.-])${emptyWord}(?=[/.-])`, 'i')
const inType = new RegExp(`\\b(?:class|interface|type)\\s+\\w*?${emptyWord}\\b`, 'i')

function checkNames(files: readonly TextFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const word = inPath.exec(path)?.[2] ?? inType.exec(text)?.[1]
    const complaints = word === undefined ? [] : [`${path} says "${word}"; name it after what it does`]
    const file = path.split('/').at(-1) ?? ''
    if (!/^[a-z0-9.-]+$/.test(file)) complaints.push(`${path}: file names are words-with-hyphens`)
    return complaints
  })
}

tidyRule('names of files and types say what a thing does', {
  check: checkNames,
  // test/tidy contains the planted examples below.
  on: written.filter((file) => !file.path.startsWith('test/tidy/')),
  atLeast: 60,
  planted: [
    { path: 'services/rest/utils.ts', text: '', complaint: 'says "utils"' },
    { path: 'services/common/bar.ts', text: '', complaint: 'says "common"' },
    { path: 'services/stream/socket-manager.ts', text: '', complaint: 'name it after what it does' },
    { path: 'services/stream/hub.ts', text: 'export class SocketManager {}', complaint: '"Manager"' },
    { path: 'services/stream/fanOut.ts', text: '', complaint: 'words-with-hyphens' },
  ],
  fine: [
    { path: 'services/core/bars/bar.ts', text: 'type Managed = 1' },
    { path: 'test/tidy/rule.ts', text: '' },
  ],
})
