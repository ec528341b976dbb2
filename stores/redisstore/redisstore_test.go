package redisstore_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/shipping-go/shipping/stores/internal/receivers"
	"github.com/shipping-go/shipping/stores/internal/servers"
	"github.com/shipping-go/shipping/stores/redisstore"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

// socketVariable is where the tests find the server.
const socketVariable = "REDISSTORE_TEST_SOCKET"

// TestMain starts a Redis for the tests; a process that a test started works instead.
func TestMain(m *testing.M) {
	if receivers.Assigned() {
		os.Exit(receivers.Work(openStore))
	}
	servers.Main(m, func() (func() error, error) {
		server, err := servers.StartRedis()
		if err != nil {
			return nil, err
		}
		return server.Close, os.Setenv(socketVariable, server.Socket())
	})
}

// openStore opens the store of a process that shares it.
func openStore(_ context.Context, a receivers.Assignment) (webhook.Store, error) {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: a.Server})
	return redisstore.New(client, a.Name, redisstore.Options{Lease: a.Lease}), nil
}

func connect(t *testing.T, socket string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// startRedis starts another Redis, for a test that is not kind to it.
func startRedis(t *testing.T) *servers.Redis {
	t.Helper()
	server, err := servers.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func TestStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) webhook.Store {
		return redisstore.New(connect(t, os.Getenv(socketVariable)), rand.Text(), redisstore.Options{})
	})
	storetest.RunLeases(t, func(t *testing.T) webhook.Store {
		return redisstore.New(connect(t, os.Getenv(socketVariable)), rand.Text(), redisstore.Options{Lease: 4 * time.Second})
	})
}

func TestStore_ReceiversOfOtherNamesHaveEachNotificationOnceMore(t *testing.T) {
	t.Parallel()
	client, name := connect(t, os.Getenv(socketVariable)), rand.Text()
	for _, key := range [][2]string{{name, "b:c"}, {name + ":b", "c"}, {name + "%3Ab", "c"}} {
		store := redisstore.New(client, key[0], redisstore.Options{})
		if state, err := store.Claim(t.Context(), key[1], "one"); state != webhook.Claimed || err != nil {
			t.Errorf("%v: %d, %v", key, state, err)
		}
	}
}

// Every key has an end, as long as it stands for.
func TestStore_KeepsKeysForTheirTime(t *testing.T) {
	t.Parallel()
	client, name := connect(t, os.Getenv(socketVariable)), rand.Text()
	store := redisstore.New(client, name, redisstore.Options{Lease: time.Hour, Keep: 100 * time.Hour})
	lasts := func(least, most time.Duration) {
		t.Helper()
		if left, err := client.PTTL(t.Context(), "shipping:webhook:"+name+":WD-1").Result(); left <= least || left > most || err != nil {
			t.Errorf("the key lasts for %s, want up to %s; %v", left, most, err)
		}
	}
	if _, err := store.Claim(t.Context(), "WD-1", "one"); err != nil {
		t.Fatal(err)
	}
	lasts(30*time.Minute, time.Hour)
	if err := store.Accept(t.Context(), "WD-1", "one"); err != nil {
		t.Fatal(err)
	}
	lasts(time.Hour, 100*time.Hour)
}

func TestStore_SaysWhatToDoWhenRedisRefuses(t *testing.T) {
	t.Parallel()
	for says, refuse := range map[string][]any{
		"give it more":           {"CONFIG", "SET", "maxmemory", "1"},
		"connect to the primary": {"REPLICAOF", "127.0.0.1", "1"},
		"set Username":           {"CONFIG", "SET", "requirepass", "wrong"},
		"it needs evalsha, eval": {"ACL", "SETUSER", "default", "-eval"},
		"on the keys":            {"ACL", "SETUSER", "default", "resetkeys"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			server := startRedis(t)
			if err := connect(t, server.Socket()).Do(t.Context(), refuse...).Err(); err != nil {
				t.Fatal(err)
			}
			store := redisstore.New(connect(t, server.Socket()), "orders", redisstore.Options{})
			if state, err := store.Claim(t.Context(), "WD-1", "one"); state != 0 || err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%d, %v", state, err)
			}
		})
	}
}

// A script is sent once, and only its hash after that.
func TestStore_SendsEachScriptOnce(t *testing.T) {
	t.Parallel()
	client := connect(t, startRedis(t).Socket())
	store := redisstore.New(client, "orders", redisstore.Options{})
	for _, id := range []string{"WD-1", "WD-2", "WD-3"} {
		if state, err := store.Claim(t.Context(), id, "one"); state != webhook.Claimed || err != nil {
			t.Errorf("%d, %v", state, err)
		}
	}
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil || !strings.Contains(stats, "cmdstat_eval:calls=1,") || !strings.Contains(stats, "cmdstat_evalsha:calls=3,") {
		t.Errorf("%v\n%s", err, stats)
	}
}

func TestStore_TwoProcessesShareIt(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	client := connect(t, server.Socket())
	receivers.Run(t, receivers.Assignment{Server: server.Socket(), Name: t.Name(), Lease: 5 * time.Second},
		func() error { return client.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal").Err() }, server.Stop, server.Start)
}
