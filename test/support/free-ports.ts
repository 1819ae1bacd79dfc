/** The acceptance suite owns this function, because it may import nothing of ours. Other tests import it from here. */
export { freePorts } from '../acceptance/client/free-ports.ts'
