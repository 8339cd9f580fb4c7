/* What a confined script could reach past Landlock: each attempt runs in a child of its own, so that one
 * that ends its process is seen too. Prints `NAME: yes`, or `NAME: no` where it was refused. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#error "Linux only"
#endif

static pid_t outside; /* a process of the same user outside the sandbox */
static int port;      /* a TCP port that somebody listens on */

static struct sockaddr_in there(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return to;
}

static int a_socket(int family, int type, int protocol) { return socket(family, type, protocol) < 0; }
static int fastopen_sendto(void) {
    struct sockaddr_in to = there();
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return sendto(s, "x", 1, MSG_FASTOPEN, (void *)&to, sizeof to) < 0;
}
static int fastopen_sendmsg(void) {
    struct sockaddr_in to = there();
    struct iovec part = {"x", 1};
    struct msghdr m = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    return sendmsg(socket(AF_INET, SOCK_STREAM, 0), &m, MSG_FASTOPEN) < 0;
}
static int fastopen_sendmmsg(void) {
    struct sockaddr_in to = there();
    struct iovec part = {"x", 1};
    struct mmsghdr m = {{&to, sizeof to, &part, 1, NULL, 0, 0}, 0};
    return sendmmsg(socket(AF_INET, SOCK_STREAM, 0), &m, 1, MSG_FASTOPEN) < 0;
}
static int mptcp(void) {
    struct sockaddr_in to = there();
    int s = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
    return connect(s, (void *)&to, sizeof to) < 0;
}
static int listen_unbound(void) { return listen(socket(AF_INET, SOCK_STREAM, 0), 1) < 0; }
static int udp(void) { return a_socket(AF_INET, SOCK_DGRAM, 0); }
static int udp6(void) { return a_socket(AF_INET6, SOCK_DGRAM, 0); }
static int vsock(void) { return a_socket(40, SOCK_STREAM, 0); }
static int alg(void) { return a_socket(38, SOCK_SEQPACKET, 0); }
static int netlink_other(void) { return a_socket(AF_NETLINK, SOCK_RAW, 15 /* uevents */); }
/* The filter must look at 32 bits: the kernel does. */
static int high_bits(void) { return syscall(SYS_socket, 0xdead00000000ul | AF_INET, SOCK_STREAM, 0) < 0; }

static int prlimit_other(void) {
    struct rlimit limit;
    return syscall(SYS_prlimit64, outside, RLIMIT_CORE, NULL, &limit) < 0 ||
           syscall(SYS_prlimit64, outside, RLIMIT_CORE, &limit, NULL) < 0;
}
static int nice_other(void) { return setpriority(PRIO_PROCESS, outside, 1) < 0; }
static int nice_group(void) { return setpriority(PRIO_PGRP, 0, 1) < 0; }
static int nice_user(void) { return setpriority(PRIO_USER, 0, 0) < 0; }
static int ioprio_other(void) { return syscall(SYS_ioprio_set, 1, outside, (2 << 13) | 7) < 0; }
static int affinity_other(void) {
    cpu_set_t set;
    sched_getaffinity(outside, sizeof set, &set);
    return sched_setaffinity(outside, sizeof set, &set) < 0;
}
static int scheduler_other(void) {
    struct sched_param p = {0};
    return syscall(SYS_sched_setscheduler, outside, SCHED_BATCH, &p) < 0;
}
static int trace_other(void) { return ptrace(PTRACE_SEIZE, outside, 0, 0) < 0; }
static int read_other(void) {
    char here[8];
    struct iovec to = {here, 1}, from = {(void *)&outside, 1};
    return process_vm_readv(outside, &to, 1, &from, 1, 0) < 0;
}
static int read_self(void) {
    char here[8];
    struct iovec to = {here, 1}, from = {(void *)&outside, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0;
}
static int take_descriptor(void) {
    int p = syscall(434 /* pidfd_open */, outside, 0);
    return syscall(438 /* pidfd_getfd */, p, 0, 0) < 0;
}
static int uring(void) {
    char parameters[256] = {0};
    return syscall(425, 1, parameters) < 0;
}
static int keyring(void) { return syscall(SYS_add_key, "user", "agent-skills-test", "x", 1, -1 /* thread */) < 0; }
static int keyctl_(void) { return syscall(SYS_keyctl, 0, -3, 1) < 0; }
static int shared_memory(void) {
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    if (id >= 0) shmctl(id, IPC_RMID, NULL);
    return id < 0;
}
static int semaphores(void) {
    int id = semget(IPC_PRIVATE, 1, 0600);
    if (id >= 0) semctl(id, 0, IPC_RMID);
    return id < 0;
}
static int messages(void) {
    int id = msgget(IPC_PRIVATE, 0600);
    if (id >= 0) msgctl(id, IPC_RMID, NULL);
    return id < 0;
}
static int message_queue(void) {
    int queue = syscall(SYS_mq_open, "agent-skills-test", 0102, 0600, NULL);
    syscall(SYS_mq_unlink, "agent-skills-test");
    return queue < 0;
}
static int signal_other(void) { return kill(outside, 0) < 0; }
static int typing(void) { return ioctl(0, TIOCSTI, "x") < 0 && errno == EPERM; }
static int foreign(void) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
    return result < 0;
#else
    return 1;
#endif
}
static int x32(void) {
#ifdef __x86_64__
    return syscall(0x40000000 | 39) < 0;
#else
    return 1;
#endif
}
static int abstract_socket(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int length = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "agent-skills-%d", (int)outside);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(s, (void *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + length) < 0;
}

/* What programs do with themselves and their own. */
static int own_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) || setrlimit(RLIMIT_CORE, &limit);
}
static int own_nice(void) { return setpriority(PRIO_PROCESS, 0, 1); }
static int own_affinity(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) || sched_setaffinity(0, sizeof set, &set);
}
static void *nothing(void *none) { return none; }
static int thread(void) {
    pthread_t t;
    return pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL);
}
static int child(void) {
    pid_t pid = fork();
    if (!pid) { pause(); _exit(0); }
    return kill(pid, SIGTERM) || waitpid(pid, NULL, 0) != pid;
}
static int pair(void) {
    int both[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, both) || send(both[0], "x", 1, MSG_NOSIGNAL) != 1;
}
static int routes(void) { return a_socket(AF_NETLINK, SOCK_RAW, 0); }

static void attempt(const char *name, int (*what)(void)) {
    int status;
    pid_t pid = fork();
    if (!pid) _exit(what() != 0);
    waitpid(pid, &status, 0);
    printf("%s: %s\n", name, WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "yes" : "no");
    fflush(stdout);
}

#define TRY(what) attempt(#what, what)

int main(int count, char **words) {
    if (count != 3) return 2;
    outside = atoi(words[1]);
    port = atoi(words[2]);
    puts("network:");
    TRY(fastopen_sendto); TRY(fastopen_sendmsg); TRY(fastopen_sendmmsg); TRY(mptcp); TRY(listen_unbound);
    TRY(udp); TRY(udp6); TRY(vsock); TRY(alg); TRY(netlink_other); TRY(high_bits);
    puts("others:");
    TRY(prlimit_other); TRY(nice_other); TRY(nice_group); TRY(nice_user); TRY(ioprio_other);
    TRY(affinity_other); TRY(scheduler_other); TRY(trace_other); TRY(read_other); TRY(read_self);
    TRY(take_descriptor); TRY(uring); TRY(keyring); TRY(keyctl_); TRY(shared_memory); TRY(semaphores);
    TRY(messages); TRY(message_queue); TRY(signal_other); TRY(abstract_socket); TRY(typing); TRY(foreign); TRY(x32);
    puts("own:");
    TRY(own_limit); TRY(own_nice); TRY(own_affinity); TRY(thread); TRY(child); TRY(pair); TRY(routes);
    puts("end:");
    return 0;
}
