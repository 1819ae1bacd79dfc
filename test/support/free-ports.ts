/** The acceptance suite may import nothing of ours, so it owns this; whoever else starts a server takes it here. */
export { freePorts } from '../acceptance/client/free-ports.ts'
