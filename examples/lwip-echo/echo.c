/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP echo over lwIP inside one process: CONNECTIONS clients each send ECHOES messages over a
 * loopback interface and wait for each to come back. Debian's liblwip takes packets, queues and
 * connections from malloc, so recording malloc records lwIP's heap.
 *
 *   client --tcp_write--> lwIP --netif_loop_output--> lwIP --on_request--> server
 *          <--on_echo---       <--netif_loop_output--      <--tcp_write---
 */
#include <stdio.h>
#include <stdlib.h>

#include <lwip/netif.h>
#include <lwip/sys.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>

enum { CONNECTIONS = 20, ECHOES = 50, PORT = 7, LARGEST = 1400 };

/* A reading, a command, a status page, a full segment: what a device says to its server. */
static const u16_t message_sizes[] = {48, 48, 160, 48, 640, 48, 160, LARGEST};

struct client {
    int echoes;  /* that came back */
    int awaited; /* bytes of the message under way */
};

static struct client clients[CONNECTIONS];
static int closed; /* connections whose client is done */
static sys_sem_t all_closed;
static char message[LARGEST];

static void require(int is_so, const char *what) {
    if (!is_so) {
        fprintf(stderr, "echo: %s failed\n", what);
        exit(1);
    }
}

static err_t loop(struct netif *netif, struct pbuf *packet, const ip4_addr_t *address) {
    (void)address;
    return netif_loop_output(netif, packet);
}

static err_t set_up_interface(struct netif *netif) {
    netif->name[0] = 'l';
    netif->name[1] = 'o';
    netif->mtu = 1500;
    netif->output = loop;
    netif->flags = NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

/* The server sends back what comes, piece by piece. */
static err_t on_request(void *unused, struct tcp_pcb *connection, struct pbuf *received,
                        err_t error) {
    (void)unused;
    (void)error;
    if (received == NULL) { /* the client closed */
        closed++;
        if (closed == CONNECTIONS) {
            sys_sem_signal(&all_closed);
        }
        return tcp_close(connection);
    }
    for (struct pbuf *piece = received; piece != NULL; piece = piece->next) {
        require(tcp_write(connection, piece->payload, piece->len, TCP_WRITE_FLAG_COPY) == ERR_OK,
                "tcp_write of an echo");
    }
    tcp_recved(connection, received->tot_len);
    pbuf_free(received);
    return tcp_output(connection);
}

static err_t on_accept(void *unused, struct tcp_pcb *connection, err_t error) {
    (void)unused;
    require(error == ERR_OK, "accept");
    tcp_recv(connection, on_request);
    return ERR_OK;
}

static err_t send_next(struct client *client, struct tcp_pcb *connection) {
    const size_t kinds = sizeof(message_sizes) / sizeof(message_sizes[0]);
    const size_t kind = (size_t)(client->echoes + (client - clients)) % kinds;
    client->awaited = message_sizes[kind];
    require(tcp_write(connection, message, message_sizes[kind], TCP_WRITE_FLAG_COPY) == ERR_OK,
            "tcp_write");
    return tcp_output(connection);
}

static err_t on_echo(void *argument, struct tcp_pcb *connection, struct pbuf *received,
                     err_t error) {
    struct client *client = argument;
    require(received != NULL && error == ERR_OK, "an echo");
    client->awaited -= received->tot_len;
    tcp_recved(connection, received->tot_len);
    pbuf_free(received);
    if (client->awaited > 0) {
        return ERR_OK;
    }
    client->echoes++;
    if (client->echoes < ECHOES) {
        return send_next(client, connection);
    }
    tcp_recv(connection, NULL);
    return tcp_close(connection);
}

static err_t on_connected(void *argument, struct tcp_pcb *connection, err_t error) {
    require(error == ERR_OK, "connect");
    tcp_recv(connection, on_echo);
    return send_next(argument, connection);
}

static void serve(const ip_addr_t *address) {
    struct tcp_pcb *bound = tcp_new();
    require(bound != NULL && tcp_bind(bound, address, PORT) == ERR_OK, "bind");
    struct tcp_pcb *listener = tcp_listen(bound);
    require(listener != NULL, "listen");
    tcp_accept(listener, on_accept);
}

static void connect_all(const ip_addr_t *address) {
    for (int i = 0; i < CONNECTIONS; i++) {
        struct tcp_pcb *connection = tcp_new();
        require(connection != NULL, "a connection");
        tcp_arg(connection, &clients[i]);
        require(tcp_connect(connection, address, PORT, on_connected) == ERR_OK, "connect");
    }
}

int main(void) {
    static struct netif netif;
    ip4_addr_t address, mask, gateway;
    IP4_ADDR(&address, 127, 0, 0, 1);
    IP4_ADDR(&mask, 255, 0, 0, 0);
    IP4_ADDR(&gateway, 127, 0, 0, 1);
    require(sys_sem_new(&all_closed, 0) == ERR_OK, "a semaphore");
    tcpip_init(NULL, NULL);
    LOCK_TCPIP_CORE();
    require(netif_add(&netif, &address, &mask, &gateway, NULL, set_up_interface, tcpip_input) !=
                NULL,
            "the interface");
    netif_set_default(&netif);
    netif_set_up(&netif);
    const ip_addr_t to = IPADDR4_INIT(address.addr);
    serve(&to);
    connect_all(&to);
    UNLOCK_TCPIP_CORE();
    sys_sem_wait(&all_closed);
    sys_msleep(100); /* the last acknowledgements are still on their way */
    printf("%d connections, %d echoes each\n", CONNECTIONS, ECHOES);
    return 0;
}
